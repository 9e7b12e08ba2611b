// Tests of the producer against a gateway in this process; those against a running system are in packages/testing.
package leadscoring

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"
)

// gateway answers the nth request, from 0, as a test says; an empty answer is that of a gateway which takes every event.
type gateway struct {
	mutex    sync.Mutex
	requests [][]IngestedEvent
}

func (g *gateway) batches() [][]IngestedEvent {
	g.mutex.Lock()
	defer g.mutex.Unlock()
	return append([][]IngestedEvent(nil), g.requests...)
}

func start(t *testing.T, options ProducerOptions, answer func(nth int, response http.ResponseWriter) bool) (*gateway, *Producer) {
	g := &gateway{}
	server := httptest.NewServer(http.HandlerFunc(func(response http.ResponseWriter, request *http.Request) {
		body, err := gzip.NewReader(request.Body)
		var events []IngestedEvent
		if err != nil || json.NewDecoder(body).Decode(&events) != nil {
			t.Error("the body is not gzipped JSON")
		}
		g.mutex.Lock()
		nth := len(g.requests)
		g.requests = append(g.requests, events)
		g.mutex.Unlock()
		response.Header().Set("Content-Type", "application/json")
		if answer == nil || !answer(nth, response) {
			response.WriteHeader(http.StatusAccepted)
			fmt.Fprintf(response, `{"accepted":%d,"batch_id":"0b6f8a52-7a0e-5c0b-9d8f-0b6f8a527a0e"}`, len(events))
		}
	}))
	t.Cleanup(server.Close)
	client, err := NewClient(server.URL, WithToken("lsp_test"))
	if err != nil {
		t.Fatal(err)
	}
	producer, err := NewProducer(client, options)
	if err != nil {
		t.Fatal(err)
	}
	return g, producer
}

func event(alias string) IngestedEvent {
	return IngestedEvent{AliasKind: "email", Alias: alias, EventType: "Page View"}
}

func send(t *testing.T, producer *Producer, count int) {
	for range count {
		if err := producer.Send(t.Context(), event("ada@example.com")); err != nil {
			t.Fatal(err)
		}
	}
}

func TestBatchesHaveTheirMostEventsAndKeepTheOrder(t *testing.T) {
	g, producer := start(t, ProducerOptions{BatchEvents: 10}, nil)
	for number := range 25 {
		if err := producer.Send(t.Context(), event(fmt.Sprint(number))); err != nil {
			t.Fatal(err)
		}
	}
	if err := producer.Close(t.Context()); err != nil {
		t.Fatal(err)
	}
	number := 0
	for _, batch := range g.batches() {
		if len(batch) > 10 {
			t.Errorf("%d events in a batch", len(batch))
		}
		for _, one := range batch {
			if one.Alias != fmt.Sprint(number) || one.EventID == nil || one.Timestamp == nil {
				t.Errorf("event %d is %v", number, one)
			}
			number++
		}
	}
	if number != 25 {
		t.Errorf("%d events came", number)
	}
}

func TestAnEventIsSentWhenItHasWaited(t *testing.T) {
	g, producer := start(t, ProducerOptions{Linger: 50 * time.Millisecond}, nil)
	send(t, producer, 1)
	for range 100 {
		if len(g.batches()) == 1 {
			break
		}
		time.Sleep(50 * time.Millisecond)
	}
	if len(g.batches()) != 1 {
		t.Error("nothing was sent")
	}
	_ = producer.Close(t.Context())
}

func TestABatchIsSentAgainUnderTheSameIds(t *testing.T) {
	statuses := []int{503, 429, 401, 404, 500}
	g, producer := start(t, ProducerOptions{}, func(nth int, response http.ResponseWriter) bool {
		if nth < len(statuses) {
			response.WriteHeader(statuses[nth])
		}
		return nth < len(statuses)
	})
	send(t, producer, 2)
	if err := producer.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	batches := g.batches()
	if len(batches) != 6 || *batches[0][1].EventID != *batches[5][1].EventID {
		t.Errorf("came: %v", batches)
	}
	_ = producer.Close(t.Context())
}

func TestARefusedBatchIsDroppedWithItsProblem(t *testing.T) {
	var dropped []DroppedEvents
	options := ProducerOptions{OnDropped: func(one DroppedEvents) { dropped = append(dropped, one) }}
	g, producer := start(t, options, func(nth int, response http.ResponseWriter) bool {
		if nth == 0 {
			response.WriteHeader(http.StatusBadRequest)
			fmt.Fprint(response, `{"code":"validation_failed","detail":"no","status":400}`)
		}
		return nth == 0
	})
	send(t, producer, 2)
	_ = producer.Flush(t.Context())
	send(t, producer, 1)
	_ = producer.Close(t.Context())
	if len(dropped) != 1 || len(dropped[0].Events) != 2 || dropped[0].Problem.Code != "validation_failed" {
		t.Errorf("dropped: %v", dropped)
	}
	if len(g.batches()) != 2 {
		t.Error("the next batch was not sent")
	}
}

func TestSendWaitsWhileTheQueueIsFull(t *testing.T) {
	release := make(chan struct{})
	_, producer := start(t, ProducerOptions{MaximumBytes: 400, Linger: time.Millisecond}, func(int, http.ResponseWriter) bool {
		<-release
		return false
	})
	ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
	defer cancel()
	taken := 0
	for producer.Send(ctx, event("ada@example.com")) == nil {
		taken++
	}
	if taken < 1 || taken > 3 || !errors.Is(ctx.Err(), context.DeadlineExceeded) {
		t.Errorf("%d events were taken", taken)
	}
	close(release)
	send(t, producer, 10)
	if err := producer.Close(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestCloseGivesBackWhatIsNotAnswered(t *testing.T) {
	var dropped []DroppedEvents
	options := ProducerOptions{BatchEvents: 2, OnDropped: func(one DroppedEvents) { dropped = append(dropped, one) }}
	_, producer := start(t, options, func(_ int, response http.ResponseWriter) bool {
		response.Header().Set("Retry-After", "60")
		response.WriteHeader(http.StatusServiceUnavailable)
		return true
	})
	send(t, producer, 5)
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if err := producer.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("Close: %v", err)
	}
	if len(dropped) != 1 || dropped[0].Reason != "closed" || len(dropped[0].Events) != 5 {
		t.Errorf("dropped: %v", dropped)
	}
	if err := producer.Send(t.Context(), event("a")); !errors.Is(err, ErrProducerClosed) {
		t.Errorf("Send: %v", err)
	}
}

func TestRetryAfterIsSecondsOrADate(t *testing.T) {
	for text, least := range map[string]time.Duration{
		"3": 3 * time.Second,
		time.Now().Add(10 * time.Second).UTC().Format(http.TimeFormat): 8 * time.Second,
		"":     0,
		"soon": 0,
		"-5":   0,
	} {
		answer := &http.Response{Header: http.Header{"Retry-After": {text}}}
		if pause := pauseAfter(1, answer); pause < least || pause > least+3*time.Second {
			t.Errorf("%q: %v", text, pause)
		}
	}
	if pause := pauseAfter(1, &http.Response{Header: http.Header{"Retry-After": {"99999"}}}); pause != longestAsked {
		t.Errorf("a day: %v", pause)
	}
	if pause := pauseAfter(1_000, nil); pause > longestPause {
		t.Errorf("after many failures: %v", pause)
	}
}
