import com.hivemq.embedded.EmbeddedHiveMQ;
import java.nio.file.Files;
import java.nio.file.Path;

/** Serves MQTT on 127.0.0.1 until it is told to end: java Broker PORT FOLDER memory|durable. */
public class Broker {
    private static final String CONFIG =
            """
            <hivemq>
              <listeners><tcp-listener>
                <port>%s</port><bind-address>127.0.0.1</bind-address>
              </tcp-listener></listeners>
              <mqtt><queued-messages><max-queue-size>1000000</max-queue-size></queued-messages>
              <receive-maximum><server-receive-maximum>65535</server-receive-maximum></receive-maximum>
              </mqtt>
              <persistence><mode>%s</mode></persistence>
              <anonymous-usage-statistics><enabled>false</enabled></anonymous-usage-statistics>
            </hivemq>
            """;

    public static void main(String[] words) throws Exception {
        Path folder = Path.of(words[1]).toAbsolutePath();
        String mode = words[2].equals("durable") ? "file" : "in-memory";
        for (String part : new String[] {"conf", "data", "extensions", "log"}) {
            Files.createDirectories(folder.resolve(part));
        }
        Files.writeString(folder.resolve("conf/config.xml"), CONFIG.formatted(words[0], mode));
        System.setProperty("hivemq.log.folder", folder.resolve("log").toString());
        EmbeddedHiveMQ broker =
                EmbeddedHiveMQ.builder()
                        .withConfigurationFolder(folder.resolve("conf"))
                        .withDataFolder(folder.resolve("data"))
                        .withExtensionsFolder(folder.resolve("extensions"))
                        .build();
        broker.start().join();
        Thread.currentThread().join();
    }
}
