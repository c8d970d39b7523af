package launcher

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"syscall"

	"golang.org/x/sync/errgroup"
)

// supervise is the supervisor's main function: it brings the cluster up, stays,
// and takes it down.
func supervise(dir Dir) int {
	signal.Ignore(syscall.SIGHUP, syscall.SIGPIPE, syscall.SIGINT)
	ctx, cancel := context.WithCancelCause(context.Background())
	s := &supervisor{dir: dir, spawner: newSpawner(), cancel: cancel}
	s.report = newProgress(cancel)

	terminated := make(chan os.Signal, 1)
	signal.Notify(terminated, syscall.SIGTERM)
	go func() {
		<-terminated
		cancel(errors.New("the supervisor was terminated"))
	}()

	err := s.run(ctx)
	s.report.say("ends: %v", err)
	s.endAll()
	s.save()
	s.report.close(lastLineFailed + err.Error())
	return 0
}

func (s *supervisor) run(ctx context.Context) error {
	var err error
	if s.self, err = identify(os.Getpid()); err != nil {
		return err
	}
	if s.options, err = s.dir.readOptions(); err != nil {
		return err
	}
	if s.pool, err = newPortPool(); err != nil {
		return err
	}
	if s.ports, err = takePorts(s.pool, s.options.RealNodes.host()); err != nil {
		return err
	}
	control, err := s.serveControl()
	if err != nil {
		return err
	}
	defer control.Close()
	s.save()

	ended := make(chan error, 1)
	go func() {
		err := s.watchOver(ctx)
		s.cancel(err) // also while the cluster is still being brought up
		ended <- err
	}()
	if err := s.bringUp(ctx); err != nil {
		if cause := context.Cause(ctx); cause != nil {
			return cause
		}
		return err
	}
	s.report.say("ready: %s", s.ports.Server())
	s.report.close(lastLineReady)
	return <-ended
}

// bringUp starts everything, in the order that the programs need.
func (s *supervisor) bringUp(ctx context.Context) error {
	// All mistakes in the options first, before anything runs.
	crdPaths := s.options.CRDs
	if s.options.Spark {
		path, err := sparkCRDs()
		if err != nil {
			return err
		}
		crdPaths = append(crdPaths, path)
	}
	if s.options.Flink {
		path, err := flinkCRDs()
		if err != nil {
			return err
		}
		crdPaths = append(crdPaths, path)
	}
	crds, err := readCRDs(crdPaths)
	if err != nil {
		return err
	}
	if _, err := s.options.Nodes.manifest(0); err != nil {
		return err
	}

	if err := s.launch(etcd(s.dir, s.ports)); err != nil {
		return err
	}
	if err := makeKeys(s.dir.Path("pki"), s.options.RealNodes); err != nil {
		return err
	}
	if err := s.dir.writeKubeconfigs(s.ports.Server()); err != nil {
		return err
	}
	if err := s.dir.writeConfigs(s.options); err != nil {
		return err
	}
	api, err := s.dir.connect()
	if err != nil {
		return err
	}
	server := apiServer(s.dir, s.ports, s.options)
	if server.ready, err = api.probe(s.ports.Server() + "/readyz"); err != nil {
		return err
	}
	s.report.say("etcd and kube-apiserver start on %s", s.ports.Server())
	if err := s.launchReady(ctx, server); err != nil {
		return err
	}
	if len(crds) > 0 {
		s.report.say("kube-apiserver serves; %d CRDs are installed", len(crds))
		if err := api.installCRDs(ctx, crds); err != nil {
			return err
		}
	}
	// The controller manager ends itself if the API server is not ready yet.
	s.report.say("controllers and schedulers start")
	controllers := s.controllers()
	for _, c := range controllers {
		if err := s.launch(c); err != nil {
			return err
		}
	}
	s.save()
	// At the same time: populate waits for what controllers make, and one that has ended makes nothing.
	group, both := errgroup.WithContext(ctx)
	group.Go(func() error { return s.populate(both, api) })
	for _, c := range controllers {
		group.Go(func() error { return s.awaitReady(both, c) })
	}
	return group.Wait()
}

func (s *supervisor) controllers() []component {
	all := []component{
		controllerManager(s.dir, s.ports),
		scheduler(s.dir, "kube-scheduler", s.ports.Scheduler, s.options),
	}
	if !s.options.RealNodes.exist() {
		all = append(all, kwok(s.dir))
	}
	if s.options.ExtenderURL != "" {
		all = append(all, scheduler(s.dir, "second-scheduler", s.ports.SecondScheduler, s.options))
	}
	return all
}

// populate makes the cluster's contents and waits until pods are accepted and
// would run.
func (s *supervisor) populate(ctx context.Context, api *clients) error {
	group, ctx := errgroup.WithContext(ctx)
	group.Go(func() error {
		names, err := api.createNodes(ctx, s.options.Nodes, s.options.Count)
		if err != nil {
			return err
		}
		if err := api.awaitNodes(ctx, names); err != nil {
			return err
		}
		s.report.say("%d nodes are ready", len(names))
		return nil
	})
	group.Go(func() error { return api.awaitDefaultAccount(ctx) })
	if s.options.Spark {
		group.Go(func() error { return s.startSpark(ctx, api) })
	}
	if s.options.Flink {
		group.Go(func() error { return s.startFlink(ctx, api) })
	}
	return group.Wait()
}

func (s *supervisor) startSpark(ctx context.Context, api *clients) error {
	if err := os.MkdirAll(s.dir.Path("spark", "bin"), 0o755); err != nil {
		return err
	}
	if err := os.MkdirAll(s.dir.Path("spark", "jobs"), 0o755); err != nil {
		return err
	}
	self, err := os.Executable()
	if err != nil {
		return err
	}
	if err := os.Symlink(self, s.dir.Path("spark", "bin", "spark-submit")); err != nil {
		return err
	}
	if err := api.createSparkAccount(ctx); err != nil {
		return err
	}
	if err := s.launch(sparkDrivers(s.dir, s.ports)); err != nil {
		return err
	}
	if s.options.SparkWebhook {
		if err := s.startSparkWebhook(ctx, api); err != nil {
			return err
		}
	}
	operator, err := sparkOperator(s.dir, s.ports)
	if err != nil {
		return err
	}
	if err := s.launchReady(ctx, operator); err != nil {
		return err
	}
	s.report.say("the Spark operator runs")
	return nil
}
