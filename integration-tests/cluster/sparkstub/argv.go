package sparkstub

import (
	"fmt"
	"strings"
)

// submission is what spark-submit was called with.
type submission struct {
	master   string
	name     string
	class    string
	resource string   // the jar or script
	args     []string // the application's own
	conf     conf
}

// Options of spark-submit. Those with a conf key are another way to write
// --conf KEY=VALUE, which wins if both are given.
var options = map[string]struct{ key string }{
	"--master": {}, "--deploy-mode": {}, "--class": {}, "--name": {}, "--conf": {}, "--properties-file": {},
	"--jars": {"spark.jars"}, "--packages": {"spark.jars.packages"}, "--exclude-packages": {"spark.jars.excludes"},
	"--repositories": {"spark.jars.repositories"}, "--py-files": {"spark.submit.pyFiles"},
	"--files": {"spark.files"}, "--archives": {"spark.archives"}, "--proxy-user": {},
	"--driver-memory": {"spark.driver.memory"}, "--driver-cores": {"spark.driver.cores"},
	"--driver-java-options": {"spark.driver.extraJavaOptions"}, "--driver-library-path": {"spark.driver.extraLibraryPath"},
	"--driver-class-path": {"spark.driver.extraClassPath"}, "--executor-memory": {"spark.executor.memory"},
	"--executor-cores": {"spark.executor.cores"}, "--num-executors": {"spark.executor.instances"},
	"--principal": {"spark.kerberos.principal"}, "--keytab": {"spark.kerberos.keytab"},
}

var switches = map[string]bool{"--verbose": true, "-v": true, "--load-spark-defaults": true}

// parseArgv reads a spark-submit command line, without the program's name. The
// first word that is no option is the application; the rest belongs to it.
func parseArgv(argv []string) (*submission, error) {
	s := &submission{conf: conf{}}
	fallback := conf{}
	for i := 0; i < len(argv); i++ {
		word := argv[i]
		if !strings.HasPrefix(word, "-") {
			s.resource, s.args = word, argv[i+1:]
			break
		}
		if switches[word] {
			continue
		}
		name, value, inline := strings.Cut(word, "=")
		if name == "-c" {
			name = "--conf"
		}
		option, known := options[name]
		if !known {
			return nil, fmt.Errorf("unrecognized option: %s", word)
		}
		if !inline {
			if i++; i == len(argv) {
				return nil, fmt.Errorf("missing argument for option %s", name)
			}
			value = argv[i]
		}
		switch name {
		case "--master":
			s.master = value
		case "--name":
			s.name = value
		case "--class":
			s.class = value
		case "--deploy-mode":
			if value != "cluster" {
				return nil, fmt.Errorf("deploy mode %q: this stand-in plays cluster mode only", value)
			}
		case "--conf":
			key, value, ok := strings.Cut(value, "=")
			if !ok {
				return nil, fmt.Errorf("spark config without '=': %s", key)
			}
			s.conf[key] = value
		default:
			if option.key != "" {
				fallback[option.key] = value
			}
		}
	}
	for key, value := range fallback {
		if _, given := s.conf[key]; !given {
			s.conf[key] = value
		}
	}
	if s.name == "" {
		s.name = s.conf.or("spark.app.name", s.class)
	}
	if s.resource == "" {
		return nil, fmt.Errorf("missing application resource")
	}
	if !strings.HasPrefix(s.master, "k8s://") {
		return nil, fmt.Errorf("master %q: want k8s://https://HOST:PORT", s.master)
	}
	return s, nil
}
