// Package leadscoring is a client of the lead scoring API: a producer of events and, in generated.go, a typed call for each route.
package leadscoring

import (
	"bytes"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"io"
	"math/rand/v2"
	"net/http"
	"strconv"
	"sync"
	"time"

	"github.com/google/uuid"
)

// The first and the longest pause between two tries, and the longest that a Retry-After can cause.
const (
	firstPause   = 200 * time.Millisecond
	longestPause = 30 * time.Second
	longestAsked = 5 * time.Minute
)

// ErrProducerClosed says that the producer takes no more events: it was closed.
var ErrProducerClosed = errors.New("the producer was closed")

// ProducerOptions are the bounds of a producer. A zero is the default.
type ProducerOptions struct {
	// BatchEvents in a request, up to 5,000; default 1,000.
	BatchEvents int
	// BatchBytes of the events in a request before it is compressed, up to 5,000,000; default 1,000,000.
	BatchBytes int
	// Linger is the longest time that an event waits for others to fill its batch; default 500 ms.
	Linger time.Duration
	// MaximumBytes of events that are not answered; beyond it Send waits. Default 64,000,000.
	MaximumBytes int
	// OnDropped is told of events that will not be sent again, and why. It runs in the producer's goroutine, or in that of Close.
	OnDropped func(DroppedEvents)
}

// DroppedEvents will not be sent again.
type DroppedEvents struct {
	// Reason is "invalid": the API refused the event, Errors says what to change; "refused": the API refused the request, Problem says why;
	// or "closed": the producer was closed before they were answered.
	Reason string
	// Events as JSON.
	Events  []json.RawMessage
	Errors  []FieldError
	Problem *Problem
}

// FieldError says what is wrong with one field of an event.
type FieldError struct {
	Path    string `json:"path"`
	Message string `json:"message"`
}

// A Producer takes events one by one, from any goroutine, and sends them in gzipped batches until each is answered. Each event gets its id
// before it is first sent, so an event that is sent again counts once.
type Producer struct {
	client  *Client
	options ProducerOptions
	// stopped ends requests and pauses.
	stopped context.Context
	stop    context.CancelFunc
	done    chan struct{}

	mutex sync.Mutex
	// changed is closed, and replaced, at each change of what follows.
	changed      chan struct{}
	queue        []json.RawMessage
	sending      []json.RawMessage
	waitingSince time.Time
	// Bytes in the queue, and in the queue and the request together; then counts of events.
	queuedBytes, heldBytes  int
	taken, answered, wanted int
	closing                 bool
}

// NewProducer starts a producer that sends with the client's server and credentials.
func NewProducer(client *Client, options ProducerOptions) (*Producer, error) {
	setDefault(&options.BatchEvents, 1_000)
	setDefault(&options.BatchBytes, 1_000_000)
	setDefault(&options.Linger, 500*time.Millisecond)
	setDefault(&options.MaximumBytes, 64_000_000)
	if options.BatchEvents < 1 || options.BatchEvents > 5_000 {
		return nil, errors.New("BatchEvents must be from 1 to 5,000")
	}
	if options.BatchBytes < 1 || options.BatchBytes > 5_000_000 {
		return nil, errors.New("BatchBytes must be from 1 to 5,000,000")
	}
	if options.OnDropped == nil {
		options.OnDropped = func(DroppedEvents) {}
	}
	stopped, stop := context.WithCancel(context.Background())
	producer := &Producer{
		client: client, options: options, stopped: stopped, stop: stop,
		done: make(chan struct{}), changed: make(chan struct{}),
	}
	go producer.run()
	return producer, nil
}

// Send takes an event of one alias; it waits while the queue is full. An event without an EventID gets a random one, and one without a
// Timestamp the time of now.
func (p *Producer) Send(ctx context.Context, event IngestedEvent) error {
	event.EventID, event.Timestamp = identified(event.EventID, event.Timestamp)
	return p.add(ctx, event)
}

// SendOfAliases takes an event of several aliases of one lead, as Send does.
func (p *Producer) SendOfAliases(ctx context.Context, event IngestedEventOfAliases) error {
	event.EventID, event.Timestamp = identified(event.EventID, event.Timestamp)
	return p.add(ctx, event)
}

// Flush sends what is in the queue now, without waiting for full batches; it returns when all of it is answered.
func (p *Producer) Flush(ctx context.Context) error {
	p.mutex.Lock()
	target := p.taken
	p.wanted = max(p.wanted, target)
	p.announce()
	p.mutex.Unlock()
	return p.wait(ctx, func() (bool, error) {
		if p.answered < target && p.stopped.Err() != nil {
			return true, ErrProducerClosed
		}
		return p.answered >= target, nil
	})
}

// Close takes no more events, and sends what is in the queue until the context ends; what is not answered by then is dropped, and the
// context's error returned.
func (p *Producer) Close(ctx context.Context) error {
	p.mutex.Lock()
	p.closing = true
	p.announce()
	p.mutex.Unlock()
	var err error
	select {
	case <-p.done:
	case <-ctx.Done():
		err = ctx.Err()
	}
	p.stop()
	<-p.done
	p.mutex.Lock()
	left := append(p.sending, p.queue...)
	p.sending, p.queue = nil, nil
	p.announce()
	p.mutex.Unlock()
	if len(left) == 0 {
		return nil
	}
	p.options.OnDropped(DroppedEvents{Reason: "closed", Events: left})
	return err
}

func setDefault[Value comparable](value *Value, standard Value) {
	var zero Value
	if *value == zero {
		*value = standard
	}
}

func identified(id *string, timestamp *time.Time) (*string, *time.Time) {
	if id == nil {
		random := uuid.NewString()
		id = &random
	}
	if timestamp == nil {
		now := time.Now().UTC().Truncate(time.Millisecond)
		timestamp = &now
	}
	return id, timestamp
}

func (p *Producer) add(ctx context.Context, event any) error {
	line, err := json.Marshal(event)
	if err != nil {
		return err
	}
	return p.wait(ctx, func() (bool, error) {
		if p.closing {
			return true, ErrProducerClosed
		}
		// An event beyond the bound has room in an empty queue.
		if p.heldBytes > 0 && p.heldBytes+len(line) > p.options.MaximumBytes {
			return false, nil
		}
		if len(p.queue) == 0 {
			p.waitingSince = time.Now()
		}
		p.queue = append(p.queue, line)
		p.queuedBytes += len(line)
		p.heldBytes += len(line)
		p.taken++
		p.announce()
		return true, nil
	})
}

// wait calls a function, with the lock, at once and after each change, until it says that it is done.
func (p *Producer) wait(ctx context.Context, isDone func() (bool, error)) error {
	for {
		p.mutex.Lock()
		done, err := isDone()
		changed := p.changed
		p.mutex.Unlock()
		if done {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// announce wakes those who wait. The caller has the lock.
func (p *Producer) announce() {
	close(p.changed)
	p.changed = make(chan struct{})
}

func (p *Producer) run() {
	defer close(p.done)
	for p.takeBatch() {
		dropped, ok := p.deliver(p.sending)
		if !ok {
			return
		}
		p.mutex.Lock()
		p.answered += len(p.sending)
		p.heldBytes -= sizeOf(p.sending)
		p.sending = nil
		p.announce()
		p.mutex.Unlock()
		for _, one := range dropped {
			p.options.OnDropped(one)
		}
	}
}

// takeBatch waits until a batch is due; false when the producer has ended.
func (p *Producer) takeBatch() bool {
	for {
		p.mutex.Lock()
		if p.stopped.Err() != nil || p.closing && len(p.queue) == 0 {
			p.mutex.Unlock()
			return false
		}
		pause, isSome := p.dueIn()
		if isSome && pause <= 0 {
			p.cutBatch()
			p.mutex.Unlock()
			return true
		}
		changed := p.changed
		p.mutex.Unlock()
		var due <-chan time.Time
		if isSome {
			due = time.After(pause)
		}
		select {
		case <-changed:
		case <-due:
		case <-p.stopped.Done():
		}
	}
}

// dueIn is the time until the next batch is due; false when nothing waits.
func (p *Producer) dueIn() (time.Duration, bool) {
	if len(p.queue) == 0 {
		return 0, false
	}
	isFull := len(p.queue) >= p.options.BatchEvents || p.queuedBytes >= p.options.BatchBytes
	if isFull || p.closing || p.answered < p.wanted {
		return 0, true
	}
	return time.Until(p.waitingSince.Add(p.options.Linger)), true
}

func (p *Producer) cutBatch() {
	count, size := 0, 0
	for count < min(len(p.queue), p.options.BatchEvents) {
		size += len(p.queue[count])
		if count > 0 && size > p.options.BatchBytes {
			break
		}
		count++
	}
	p.sending = p.queue[:count:count]
	p.queue = p.queue[count:]
	p.queuedBytes -= sizeOf(p.sending)
	p.waitingSince = time.Now()
}

// deliver sends a batch until the API has answered for each of its events, and returns those that it refuses; false when the producer was
// stopped before.
func (p *Producer) deliver(lines []json.RawMessage) ([]DroppedEvents, bool) {
	body := compressed(lines)
	key, partial := IdempotencyKeyHeader(uuid.NewString()), IngestParamsPartialTrue
	params := &IngestParams{IdempotencyKey: &key, Partial: &partial}
	for failures := 1; p.stopped.Err() == nil; failures++ {
		answer, content := p.post(params, body)
		if dropped, ok := outcome(answer, content, lines); ok {
			return dropped, true
		}
		select {
		case <-time.After(pauseAfter(failures, answer)):
		case <-p.stopped.Done():
		}
	}
	return nil, false
}

// post returns no answer when there was none within 30 s.
func (p *Producer) post(params *IngestParams, body []byte) (*http.Response, []byte) {
	ctx, cancel := context.WithTimeout(p.stopped, 30*time.Second)
	defer cancel()
	gzipped := func(_ context.Context, request *http.Request) error {
		request.Header.Set("Content-Encoding", "gzip")
		return nil
	}
	answer, err := p.client.IngestWithBody(ctx, params, "application/json", bytes.NewReader(body), gzipped)
	if err != nil {
		return nil, nil
	}
	defer answer.Body.Close()
	content, err := io.ReadAll(answer.Body)
	if err != nil {
		return nil, nil
	}
	return answer, content
}

// outcome is the events that the answer refuses; false when the batch has to be sent again. An ended credential, a wrong address and an
// answer of another program are mended by an operator, and the events keep until then.
func outcome(answer *http.Response, content []byte, lines []json.RawMessage) ([]DroppedEvents, bool) {
	if answer == nil {
		return nil, false
	}
	switch answer.StatusCode {
	case http.StatusOK, http.StatusAccepted:
		var accepted struct {
			BatchID  string `json:"batch_id"`
			Rejected []struct {
				Index  int          `json:"index"`
				Errors []FieldError `json:"errors"`
			} `json:"rejected"`
		}
		if json.Unmarshal(content, &accepted) != nil || accepted.BatchID == "" {
			return nil, false
		}
		var dropped []DroppedEvents
		for _, one := range accepted.Rejected {
			if one.Index < len(lines) {
				dropped = append(dropped, DroppedEvents{Reason: "invalid", Events: lines[one.Index : one.Index+1], Errors: one.Errors})
			}
		}
		return dropped, true
	case http.StatusBadRequest, http.StatusRequestEntityTooLarge, http.StatusUnsupportedMediaType, http.StatusUnprocessableEntity:
		var problem Problem
		if json.Unmarshal(content, &problem) != nil || problem.Code == "" {
			return nil, false
		}
		return []DroppedEvents{{Reason: "refused", Events: lines, Problem: &problem}}, true
	}
	return nil, false
}

// pauseAfter is exponential, minus up to a half, and never less than Retry-After asks.
func pauseAfter(failures int, answer *http.Response) time.Duration {
	backoff := min(longestPause, firstPause<<min(failures-1, 16))
	pause := backoff/2 + rand.N(backoff/2)
	if answer == nil {
		return pause
	}
	return max(pause, min(longestAsked, asked(answer.Header.Get("Retry-After"))))
}

// asked is Retry-After as a time from now: it is a number of seconds, or a date.
func asked(retryAfter string) time.Duration {
	if seconds, err := strconv.ParseUint(retryAfter, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	if date, err := http.ParseTime(retryAfter); err == nil {
		return time.Until(date)
	}
	return 0
}

func compressed(lines []json.RawMessage) []byte {
	var body bytes.Buffer
	writer, _ := gzip.NewWriterLevel(&body, gzip.BestSpeed)
	// A buffer takes every write.
	_ = json.NewEncoder(writer).Encode(lines)
	_ = writer.Close()
	return body.Bytes()
}

func sizeOf(lines []json.RawMessage) int {
	size := 0
	for _, line := range lines {
		size += len(line)
	}
	return size
}
