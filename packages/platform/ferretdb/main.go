// Runs FerretDB. Arguments: the PostgreSQL URL, the address to listen on, the folder of its state.
package main

import (
	"context"
	"log"
	"os"
	"os/signal"
	"syscall"

	"github.com/FerretDB/FerretDB/v2/ferretdb"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	telemetry := false
	server, err := ferretdb.New(&ferretdb.Config{
		PostgreSQLURL: os.Args[1],
		ListenAddr:    os.Args[2],
		StateDir:      os.Args[3],
		LogOutput:     os.Stderr,
		Telemetry:     &telemetry,
	})
	if err != nil {
		log.Fatal(err)
	}
	server.Run(ctx)
}
