// Command scores follows the engagement score of every lead. It knows the AsyncAPI document, the brokers and the schema registry, and nothing
// else of the system. Each change is a line of JSON on standard output: {"type", "lead_id", "score"}; a lead that is gone has the score null.
//
//	API_URL=… KAFKA_BROKERS=… SCHEMA_REGISTRY_URL=… GROUP_ID=crm.scores go run .
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/sr"
)

// Change is what a record says of a lead's engagement score.
type Change struct {
	Type   string `json:"type"`
	LeadID string `json:"lead_id"`
	Score  *int   `json:"score"`
}

// payload has the fields of the records that this program needs. It ignores all others, and those that records may get later.
type payload struct {
	LeadID    string `json:"lead_id"`
	Score     *int   `json:"score"`
	ScoreType string `json:"score_type"`
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	topic := topicOf("scoring.events")
	registry, err := sr.NewClient(sr.URLs(os.Getenv("SCHEMA_REGISTRY_URL")))
	check(err)
	group := os.Getenv("GROUP_ID")
	if group == "" {
		group = "crm.scores"
	}
	client, err := kgo.NewClient(
		kgo.SeedBrokers(strings.Split(os.Getenv("KAFKA_BROKERS"), ",")...),
		kgo.ConsumerGroup(group),
		kgo.ConsumeTopics(topic),
		kgo.FetchIsolationLevel(kgo.ReadCommitted()),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()),
		kgo.DisableAutoCommit(),
	)
	check(err)
	defer client.Close()
	known := map[int]string{}
	for ctx.Err() == nil {
		fetches := client.PollFetches(ctx)
		fetches.EachError(func(_ string, _ int32, err error) {
			if ctx.Err() == nil {
				log.Fatal(err)
			}
		})
		fetches.EachRecord(func(record *kgo.Record) {
			if change := changeOf(ctx, registry, known, record); change != nil {
				line, err := json.Marshal(change)
				check(err)
				fmt.Println(string(line))
			}
		})
		// What was printed is committed, so that the next start goes on behind it.
		check(client.CommitUncommittedOffsets(context.Background()))
	}
}

// changeOf returns nil for a record that says nothing of an engagement score.
func changeOf(ctx context.Context, registry *sr.Client, known map[int]string, record *kgo.Record) *Change {
	kind := ""
	for _, header := range record.Headers {
		if header.Key == "type" {
			kind = string(header.Value)
		}
	}
	// A topic has types that a program does not need, and later ones that it does not know.
	if kind != "LeadScored" && kind != "ScoreAdjusted" && kind != "LeadRemoved" {
		return nil
	}
	var header sr.ConfluentHeader
	id, body, err := header.DecodeID(record.Value)
	check(err)
	if _, seen := known[id]; !seen {
		schema, err := registry.SchemaByID(ctx, id)
		check(err)
		if schema.Type != sr.TypeJSON {
			log.Fatalf("schema %d is %s, and not JSON Schema", id, schema.Type)
		}
		known[id] = schema.Schema
	}
	var read payload
	check(json.Unmarshal(body, &read))
	switch {
	case kind == "LeadRemoved":
		return &Change{Type: kind, LeadID: read.LeadID}
	case kind == "ScoreAdjusted" && read.ScoreType != "engagement":
		return nil
	}
	return &Change{Type: kind, LeadID: read.LeadID, Score: read.Score}
}

// topicOf looks the name of a channel's topic up in the AsyncAPI document.
func topicOf(channel string) string {
	answer, err := http.Get(os.Getenv("API_URL") + "/asyncapi.json")
	check(err)
	defer answer.Body.Close()
	var document struct {
		Channels map[string]struct {
			Address string `json:"address"`
		} `json:"channels"`
	}
	check(json.NewDecoder(answer.Body).Decode(&document))
	return document.Channels[channel].Address
}

func check(err error) {
	if err != nil {
		log.Fatal(err)
	}
}
