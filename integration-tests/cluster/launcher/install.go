package launcher

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/yaml"
)

var crdResource = schema.GroupVersionResource{
	Group: "apiextensions.k8s.io", Version: "v1", Resource: "customresourcedefinitions"}

// readCRDs reads the CustomResourceDefinitions of files and of folders' .yaml,
// .yml and .json files; other objects in them are an error, silence would not do.
func readCRDs(paths []string) ([]*unstructured.Unstructured, error) {
	var crds []*unstructured.Unstructured
	for _, path := range paths {
		files, err := yamlFiles(path)
		if err != nil {
			return nil, err
		}
		for _, file := range files {
			content, err := os.ReadFile(file)
			if err != nil {
				return nil, err
			}
			decoder := yaml.NewYAMLOrJSONDecoder(bytes.NewReader(content), 4096)
			for {
				crd := &unstructured.Unstructured{}
				if err := decoder.Decode(crd); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					return nil, fmt.Errorf("%s: %w", file, err)
				}
				if len(crd.Object) == 0 {
					continue
				}
				if crd.GetKind() != "CustomResourceDefinition" {
					return nil, fmt.Errorf("%s: --crds takes CustomResourceDefinitions, this is a %s", file, crd.GetKind())
				}
				crds = append(crds, crd)
			}
		}
	}
	return crds, nil
}

func yamlFiles(path string) ([]string, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var files []string
	for _, entry := range entries {
		if slices.Contains([]string{".yaml", ".yml", ".json"}, filepath.Ext(entry.Name())) {
			files = append(files, filepath.Join(path, entry.Name()))
		}
	}
	return files, nil
}

// installCRDs applies the CRDs and waits until the API serves them and lists
// them: a controller that starts afterwards knows them from its first look.
// (The garbage collector else learns of a new kind only at its next resync,
// and for 30 seconds nothing of that kind is deleted with its owner.)
func (c *clients) installCRDs(ctx context.Context, crds []*unstructured.Unstructured) error {
	group, ctx := errgroup.WithContext(ctx)
	for _, crd := range crds {
		group.Go(func() error {
			name := crd.GetName()
			// A CRD taken from a cluster may carry these; an apply refuses them.
			crd.SetManagedFields(nil)
			if err := c.apply(ctx, name, crd); err != nil {
				return fmt.Errorf("CRD %s: %w", name, err)
			}
			return poll(ctx, 50*time.Millisecond, func() error { return c.isServed(ctx, name) })
		})
	}
	return group.Wait()
}

// apply tries again where no answer came in time: large CRDs cost the API server
// seconds, and a busy machine makes minutes of them.
func (c *clients) apply(ctx context.Context, name string, crd *unstructured.Unstructured) error {
	options := metav1.ApplyOptions{FieldManager: "esi-cluster", Force: true}
	for begin := time.Now(); ; {
		_, err := c.dynamic.Resource(crdResource).Apply(ctx, name, crd, options)
		var late net.Error
		inTime := !errors.As(err, &late) || !late.Timeout()
		if err == nil || inTime && !apierrors.IsTimeout(err) && !apierrors.IsServerTimeout(err) || time.Since(begin) > patience {
			return err
		}
	}
}

func (c *clients) isServed(ctx context.Context, name string) error {
	crd, err := c.dynamic.Resource(crdResource).Get(ctx, name, metav1.GetOptions{})
	if err != nil {
		return err
	}
	conditions, _, _ := unstructured.NestedSlice(crd.Object, "status", "conditions")
	established := slices.ContainsFunc(conditions, func(entry any) bool {
		condition, ok := entry.(map[string]any)
		return ok && condition["type"] == "Established" && condition["status"] == "True"
	})
	if !established {
		return fmt.Errorf("CRD %s is not established yet", name)
	}
	group, _, _ := unstructured.NestedString(crd.Object, "spec", "group")
	plural, _, _ := unstructured.NestedString(crd.Object, "spec", "names", "plural")
	versions, _, _ := unstructured.NestedSlice(crd.Object, "spec", "versions")
	for _, entry := range versions {
		version, ok := entry.(map[string]any)
		if !ok || version["served"] != true {
			continue
		}
		groupVersion := group + "/" + fmt.Sprint(version["name"])
		listed, err := c.kube.Discovery().ServerResourcesForGroupVersion(groupVersion)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(listed.APIResources, func(r metav1.APIResource) bool { return r.Name == plural }) {
			return fmt.Errorf("%s of %s are not listed yet", plural, groupVersion)
		}
	}
	return nil
}

// awaitDefaultAccount waits until pods are accepted in namespace default: the
// API server refuses them until the namespace has its service account.
func (c *clients) awaitDefaultAccount(ctx context.Context) error {
	return poll(ctx, 50*time.Millisecond, func() error {
		_, err := c.kube.CoreV1().ServiceAccounts("default").Get(ctx, "default", metav1.GetOptions{})
		return err
	})
}

// createSparkAccount makes the service account that Spark's drivers run as.
func (c *clients) createSparkAccount(ctx context.Context) error {
	name := metav1.ObjectMeta{Name: "spark", Namespace: "default"}
	account := &corev1.ServiceAccount{ObjectMeta: name}
	role := &rbacv1.Role{ObjectMeta: name, Rules: []rbacv1.PolicyRule{{
		APIGroups: []string{""}, Resources: []string{"pods", "configmaps", "services", "persistentvolumeclaims"},
		Verbs: []string{"get", "list", "watch", "create", "update", "patch", "delete", "deletecollection"}}}}
	binding := &rbacv1.RoleBinding{ObjectMeta: name,
		RoleRef:  rbacv1.RoleRef{APIGroup: rbacv1.GroupName, Kind: "Role", Name: "spark"},
		Subjects: []rbacv1.Subject{{Kind: "ServiceAccount", Name: "spark", Namespace: "default"}}}
	_, first := c.kube.CoreV1().ServiceAccounts("default").Create(ctx, account, metav1.CreateOptions{})
	_, second := c.kube.RbacV1().Roles("default").Create(ctx, role, metav1.CreateOptions{})
	_, third := c.kube.RbacV1().RoleBindings("default").Create(ctx, binding, metav1.CreateOptions{})
	for _, err := range []error{first, second, third} {
		if err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	return nil
}

// splitLabels reads k=v,k=v.
func splitLabels(text string) (map[string]string, error) {
	labels := map[string]string{}
	for _, pair := range strings.Split(text, ",") {
		if pair == "" {
			continue
		}
		key, value, ok := strings.Cut(pair, "=")
		if !ok {
			return nil, fmt.Errorf("label %q: want key=value", pair)
		}
		labels[key] = value
	}
	return labels, nil
}
