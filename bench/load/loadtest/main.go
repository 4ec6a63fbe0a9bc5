// Loads an MQTT broker as the load test that was published in 2013 did: half of the connections
// subscribe, each to a topic of its own, and the other half publish to one of these as fast as they
// can, at QoS 0. Written anew from its description; the MQTT is that of Eclipse Paho.
//
//	loadtest URL CONNECTIONS MESSAGES
//
// Each publisher sends MESSAGES messages of 16 bytes. Prints the messages a second, connecting
// included, and ends with status 1 if no message comes for 10 s.
package main

import (
	"fmt"
	"log"
	"os"
	"strconv"
	"sync"
	"time"

	mqtt "github.com/eclipse/paho.mqtt.golang"
)

const patience = 10 * time.Second

var payload = []byte("loadtest payload")

func connect(url, name string) mqtt.Client {
	options := mqtt.NewClientOptions().AddBroker(url).SetClientID(name).SetProtocolVersion(4)
	options.SetCleanSession(true).SetKeepAlive(60 * time.Second).SetAutoReconnect(false)
	// Else a goroutine is started for each message, to keep callbacks that block from harm.
	options.SetOrderMatters(true)
	client := mqtt.NewClient(options)
	if token := client.Connect(); token.Wait() && token.Error() != nil {
		log.Fatalf("loadtest: %s: %v", name, token.Error())
	}
	return client
}

func pair(url string, number, messages int) {
	topic := fmt.Sprintf("loadtest/%d", number)
	seen := make(chan struct{}, 1024)
	subscriber := connect(url, fmt.Sprintf("sub-%d-%d", os.Getpid(), number))
	take := func(mqtt.Client, mqtt.Message) { seen <- struct{}{} }
	if token := subscriber.Subscribe(topic, 1, take); token.Wait() && token.Error() != nil {
		log.Fatalf("loadtest: %s: %v", topic, token.Error())
	}
	publisher := connect(url, fmt.Sprintf("pub-%d-%d", os.Getpid(), number))
	go func() {
		for i := 0; i < messages; i++ {
			publisher.Publish(topic, 0, false, payload)
		}
	}()
	looks, before := time.NewTicker(patience), 0
	defer looks.Stop()
	for came := 0; came < messages; {
		select {
		case <-seen:
			came++
		case <-looks.C:
			if came == before {
				log.Fatalf("loadtest: %s: %d of %d messages came", topic, came, messages)
			}
			before = came
		}
	}
	subscriber.Disconnect(0)
	publisher.Disconnect(0)
}

func main() {
	if len(os.Args) != 4 {
		log.Fatal("loadtest: say URL CONNECTIONS MESSAGES")
	}
	connections, bad := strconv.Atoi(os.Args[2])
	messages, worse := strconv.Atoi(os.Args[3])
	if bad != nil || worse != nil || connections < 2 || connections%2 != 0 || messages < 1 {
		log.Fatal("loadtest: CONNECTIONS is an even number, MESSAGES at least 1")
	}
	began := time.Now()
	var pairs sync.WaitGroup
	for number := range connections / 2 {
		pairs.Add(1)
		go func() {
			defer pairs.Done()
			pair(os.Args[1], number, messages)
		}()
	}
	pairs.Wait()
	all := float64(messages) * float64(connections/2)
	fmt.Printf("%.0f messages/s\n", all/time.Since(began).Seconds())
}
