// Command send-events sends the events of standard input, one as JSON a line.
package main

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"log"
	"os"

	leadscoring "lead-scoring/client-go"
)

func main() {
	client, err := leadscoring.NewClient(os.Getenv("API_URL"), leadscoring.WithToken(os.Getenv("LEAD_SCORING_TOKEN")))
	check(err)
	producer, err := leadscoring.NewProducer(client, leadscoring.ProducerOptions{
		OnDropped: func(dropped leadscoring.DroppedEvents) {
			log.Printf("%s: %s %v %v", dropped.Reason, dropped.Events, dropped.Errors, dropped.Problem)
		},
	})
	check(err)
	for input := json.NewDecoder(os.Stdin); ; {
		var event leadscoring.IngestedEvent
		if err := input.Decode(&event); errors.Is(err, io.EOF) {
			break
		} else {
			check(err)
		}
		check(producer.Send(context.Background(), event))
	}
	check(producer.Close(context.Background()))
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
