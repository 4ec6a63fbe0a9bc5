import io.moquette.broker.Server;
import io.moquette.broker.config.MemoryConfig;
import java.util.Properties;

/** Serves MQTT on 127.0.0.1 until it is told to end: java Broker PORT FOLDER. */
public class Broker {
    public static void main(String[] words) throws Exception {
        Properties config = new Properties();
        config.setProperty("host", "127.0.0.1");
        config.setProperty("port", words[0]);
        config.setProperty("allow_anonymous", "true");
        config.setProperty("data_path", words[1]);
        config.setProperty("persistence_enabled", "false");
        config.setProperty("telemetry_enabled", "false");
        config.setProperty("buffer_flush_millis", "0");
        config.setProperty("session_queue_size", "1000000");
        new Server().startServer(new MemoryConfig(config));
        Thread.currentThread().join();
    }
}
