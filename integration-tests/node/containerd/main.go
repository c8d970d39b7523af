// Containerd-ctr is containerd and its client ctr in one binary, by the name it is called by.
package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/containerd/containerd/v2/cmd/containerd/command"
	"github.com/containerd/containerd/v2/cmd/ctr/app"
)

func main() {
	name := filepath.Base(os.Args[0])
	var err error
	switch name {
	case "containerd":
		err = command.App().Run(context.Background(), os.Args)
	case "ctr":
		err = app.New().Run(context.Background(), os.Args)
	default:
		err = fmt.Errorf("call it as containerd or as ctr")
	}
	if err != nil {
		fmt.Fprintf(os.Stderr, "%s: %v\n", name, err)
		os.Exit(1)
	}
}
