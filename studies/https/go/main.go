// tiebreak-https-go serves files, or gets them, with what Go's net/http has:
//
//	tiebreak-https-go serve ADDRESS FOLDER [CERTIFICATE KEY]
//	tiebreak-https-go get CONNECTIONS COUNT URL
//
// It speaks HTTP/1.1, as all of the study does.
package main

import (
	"crypto/tls"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"strconv"
)

// No protocol but HTTP/1.1 over TLS.
var plainTLS = map[string]func(*http.Server, *tls.Conn, http.Handler){}

func main() {
	words := os.Args[1:]
	switch {
	case len(words) == 3 && words[0] == "serve":
		log.Fatal(server(words).ListenAndServe())
	case len(words) == 5 && words[0] == "serve":
		log.Fatal(server(words).ListenAndServeTLS(words[3], words[4]))
	case len(words) == 4 && words[0] == "get":
		get(number(words[1]), number(words[2]), words[3])
	default:
		log.Fatal("usage: serve ADDRESS FOLDER [CERTIFICATE KEY], or get CONNECTIONS COUNT URL")
	}
}

func server(words []string) *http.Server {
	files := http.FileServer(http.Dir(words[2]))
	return &http.Server{Addr: words[1], Handler: files, TLSNextProto: plainTLS}
}

func number(word string) int {
	value, err := strconv.Atoi(word)
	if err != nil || value < 1 {
		log.Fatalf("'%s' is no number above 0", word)
	}
	return value
}

// get gets a file COUNT times over each of so many connections, and prints how many bytes came.
func get(connections, count int, url string) {
	client := &http.Client{Transport: &http.Transport{
		TLSClientConfig: &tls.Config{InsecureSkipVerify: true},
		MaxConnsPerHost: connections,
		TLSNextProto:    map[string]func(string, *tls.Conn) http.RoundTripper{},
	}}
	came := make(chan int64)
	for i := 0; i < connections; i++ {
		go func() {
			for j := 0; j < count; j++ {
				came <- once(client, url)
			}
		}()
	}
	var sum int64
	for i := 0; i < connections*count; i++ {
		sum += <-came
	}
	fmt.Println(sum)
}

func once(client *http.Client, url string) int64 {
	response, err := client.Get(url)
	if err != nil {
		log.Fatal(err)
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		log.Fatal(response.Status)
	}
	bytes, err := io.Copy(io.Discard, response.Body)
	if err != nil {
		log.Fatal(err)
	}
	return bytes
}
