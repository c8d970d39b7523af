// fileserver plays a large cluster's API server out of files: lists (with pages), streaming lists with
// bookmarks, watches, and the writes of ESI's operators. See README.md beside it.
//
//	fileserver make  --folder F --nodes 5000 --slots 10 --others 150000 --jobs 200
//	fileserver serve --folder F --log requests.jsonl [--play]     prints its address
package main

import (
	"flag"
	"fmt"
	"net"
	"net/http"
	"os"
	"time"
)

func main() {
	if len(os.Args) < 2 {
		fail("say make or serve")
	}
	flags := flag.NewFlagSet(os.Args[1], flag.ExitOnError)
	folder := flags.String("folder", "", "where the recorded objects are")
	switch os.Args[1] {
	case "make":
		w := &world{}
		flags.IntVar(&w.nodes, "nodes", 3, "nodes of the testbed")
		flags.IntVar(&w.slots, "slots", 2, "slots of a node")
		flags.IntVar(&w.others, "others", 0, "other pods on these nodes")
		flags.BoolVar(&w.empty, "empty", false, "no ghosts yet, and no taints")
		flags.IntVar(&w.jobs, "jobs", 1, "BatchJobs")
		flags.Parse(os.Args[2:])
		if err := w.write(*folder); err != nil {
			fail(err.Error())
		}
	case "serve":
		logFile := flags.String("log", os.DevNull, "a line of JSON for each request")
		plays := flags.Bool("play", false, "play scheduler, kubelets and Spark")
		runFor := flags.Duration("run", 200*time.Millisecond, "how long an application runs")
		flags.Parse(os.Args[2:])
		serve(*folder, *logFile, *plays, *runFor)
	default:
		fail("say make or serve")
	}
}

func fail(what string) {
	fmt.Fprintln(os.Stderr, "fileserver: "+what)
	os.Exit(1)
}

func serve(folder, logFile string, plays bool, runFor time.Duration) {
	s := newStore()
	if err := s.load(folder); err != nil {
		fail(err.Error())
	}
	log, err := openLog(logFile)
	if err != nil {
		fail(err.Error())
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		fail(err.Error())
	}
	s.played = log.played
	if plays {
		go s.play(runFor)
	}
	fmt.Printf("http://%s\n", listener.Addr())
	fail(http.Serve(listener, &server{s, log}).Error())
}
