// mochi serves MQTT until it is told to end: mochi -listen ADDRESS [-store FOLDER].
package main

import (
	"flag"
	"log"
	"log/slog"
	"math"
	"os"
	"os/signal"
	"syscall"

	mqtt "github.com/mochi-mqtt/server/v2"
	"github.com/mochi-mqtt/server/v2/hooks/auth"
	"github.com/mochi-mqtt/server/v2/hooks/storage/badger"
	"github.com/mochi-mqtt/server/v2/listeners"
)

func main() {
	address := flag.String("listen", "127.0.0.1:1883", "where to listen")
	store := flag.String("store", "", "the folder that keeps sessions and messages under way")
	flag.Parse()

	capabilities := mqtt.NewDefaultServerCapabilities()
	// It drops what is beyond this queue of a client, and the queue is allocated at once.
	capabilities.MaximumClientWritesPending = 1 << 16
	capabilities.MaximumInflight = math.MaxUint16
	capabilities.ReceiveMaximum = math.MaxUint16
	server := mqtt.New(&mqtt.Options{
		Capabilities: capabilities,
		Logger:       slog.New(slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelError})),
	})
	must(server.AddHook(new(auth.AllowHook), nil))
	if *store != "" {
		must(server.AddHook(new(badger.Hook), &badger.Options{Path: *store}))
	}
	must(server.AddListener(listeners.NewTCP(listeners.Config{ID: "tcp", Address: *address})))
	must(server.Serve())

	end := make(chan os.Signal, 1)
	signal.Notify(end, syscall.SIGTERM, os.Interrupt)
	<-end
	must(server.Close())
}

func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
