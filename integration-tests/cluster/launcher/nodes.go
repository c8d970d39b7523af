package launcher

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// nodeLabel marks the nodes that kwok plays.
const nodeLabel = "kwok.x-k8s.io/node"

// manifest is the node with that number.
func (s NodeSpec) manifest(number int) (*corev1.Node, error) {
	name := fmt.Sprintf("%s-%d", s.Prefix, number)
	capacity := corev1.ResourceList{}
	for resourceName, text := range map[corev1.ResourceName]string{
		corev1.ResourceCPU: s.CPU, corev1.ResourceMemory: s.Memory, corev1.ResourcePods: s.Pods} {
		quantity, err := resource.ParseQuantity(text)
		if err != nil {
			return nil, fmt.Errorf("node %s: %q is no amount of %s: %w", name, text, resourceName, err)
		}
		capacity[resourceName] = quantity
	}
	labels := map[string]string{
		nodeLabel:                       "fake",
		corev1.LabelHostname:            name,
		corev1.LabelOSStable:            "linux",
		corev1.LabelArchStable:          "amd64",
		"node-role.kubernetes.io/agent": "",
	}
	for key, value := range s.Labels {
		labels[key] = strings.ReplaceAll(value, "{i}", strconv.Itoa(number))
	}
	return &corev1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name, Labels: labels},
		Status:     corev1.NodeStatus{Capacity: capacity, Allocatable: capacity},
	}, nil
}

// createNodes adds count nodes, numbered from the first number that none of the
// prefix's nodes has or is below, and returns their names.
func (c *clients) createNodes(ctx context.Context, spec NodeSpec, count int) ([]string, error) {
	first, err := c.firstFreeNumber(ctx, spec.Prefix)
	if err != nil {
		return nil, err
	}
	names := make([]string, count)
	group, ctx := errgroup.WithContext(ctx)
	group.SetLimit(16)
	for i := range count {
		group.Go(func() error {
			node, err := spec.manifest(first + i)
			if err != nil {
				return err
			}
			names[i] = node.Name
			_, err = c.kube.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
			return err
		})
	}
	return names, group.Wait()
}

func (c *clients) firstFreeNumber(ctx context.Context, prefix string) (int, error) {
	nodes, err := c.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	if err != nil {
		return 0, err
	}
	first := 0
	for _, node := range nodes.Items {
		if text, ok := strings.CutPrefix(node.Name, prefix+"-"); ok {
			if number, err := strconv.Atoi(text); err == nil {
				first = max(first, number+1)
			}
		}
	}
	return first, nil
}

// awaitNodes waits until the named nodes take pods: they are Ready, and the
// taint is gone that every new node has until the controllers saw it Ready.
func (c *clients) awaitNodes(ctx context.Context, names []string) error {
	wanted := map[string]bool{}
	for _, name := range names {
		wanted[name] = true
	}
	return poll(ctx, 100*time.Millisecond, func() error {
		nodes, err := c.kube.CoreV1().Nodes().List(ctx, metav1.ListOptions{ResourceVersion: "0"})
		if err != nil {
			return err
		}
		ready := 0
		for _, node := range nodes.Items {
			if wanted[node.Name] && takesPods(&node) {
				ready++
			}
		}
		if ready < len(wanted) {
			return fmt.Errorf("%d of %d nodes are ready", ready, len(wanted))
		}
		return nil
	})
}

func takesPods(node *corev1.Node) bool {
	for _, taint := range node.Spec.Taints {
		if taint.Key == corev1.TaintNodeNotReady {
			return false
		}
	}
	for _, condition := range node.Status.Conditions {
		if condition.Type == corev1.NodeReady {
			return condition.Status == corev1.ConditionTrue
		}
	}
	return false
}

// poll calls attempt until it succeeds; the context ends it with the last reason.
func poll(ctx context.Context, every time.Duration, attempt func() error) error {
	for {
		err := attempt()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%w (%w)", err, context.Cause(ctx))
		case <-time.After(every):
		}
	}
}

// dropNodeLeases deletes the leases by which the nodes say that they live.
func (s *supervisor) dropNodeLeases(ctx context.Context) error {
	api, err := s.dir.connect()
	if err != nil {
		return err
	}
	return api.kube.CoordinationV1().Leases(corev1.NamespaceNodeLease).
		DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
}
