package sparkstub

import (
	"fmt"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
)

// addVolumes adds the volumes of spark.kubernetes.ROLE.volumes.TYPE.NAME.*, the
// secrets of spark.kubernetes.ROLE.secrets.NAME, and, as Spark does where no
// volume is meant for its scratch files, an empty folder for those.
func addVolumes(spec *corev1.PodSpec, container *corev1.Container, role string, c conf) error {
	entries := c.under("spark.kubernetes." + role + ".volumes.")
	hasScratch := false
	for _, key := range sortedKeys(entries) {
		base, isMount := strings.CutSuffix(key, ".mount.path")
		if !isMount {
			continue
		}
		kind, name, ok := strings.Cut(base, ".")
		if !ok {
			return fmt.Errorf("volume %q: want TYPE.NAME", base)
		}
		source, err := volumeSource(kind, name, conf(entries).under(base+".options."))
		if err != nil {
			return err
		}
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: source})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{
			Name: name, MountPath: entries[key], SubPath: entries[base+".mount.subPath"],
			ReadOnly: entries[base+".mount.readOnly"] == "true"})
		if strings.HasPrefix(name, "spark-local-dir-") {
			hasScratch = true
		}
	}
	secrets := c.under("spark.kubernetes." + role + ".secrets.")
	for _, name := range sortedKeys(secrets) {
		volume := name + "-volume"
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: volume, VolumeSource: corev1.VolumeSource{
			Secret: &corev1.SecretVolumeSource{SecretName: name}}})
		container.VolumeMounts = append(container.VolumeMounts,
			corev1.VolumeMount{Name: volume, MountPath: secrets[name]})
	}
	if !hasScratch {
		const name, path = "spark-local-dir-1", "/var/data/spark"
		spec.Volumes = append(spec.Volumes, corev1.Volume{Name: name, VolumeSource: corev1.VolumeSource{
			EmptyDir: &corev1.EmptyDirVolumeSource{}}})
		container.VolumeMounts = append(container.VolumeMounts, corev1.VolumeMount{Name: name, MountPath: path})
		container.Env = append(container.Env, corev1.EnvVar{Name: "SPARK_LOCAL_DIRS", Value: path})
	}
	return nil
}

func volumeSource(kind, name string, options map[string]string) (corev1.VolumeSource, error) {
	var source corev1.VolumeSource
	switch kind {
	case "emptyDir":
		source.EmptyDir = &corev1.EmptyDirVolumeSource{Medium: corev1.StorageMedium(options["medium"])}
		if text, ok := options["sizeLimit"]; ok {
			limit, err := resource.ParseQuantity(text)
			if err != nil {
				return source, fmt.Errorf("volume %s: size limit %q: %w", name, text, err)
			}
			source.EmptyDir.SizeLimit = &limit
		}
	case "hostPath":
		hostType := corev1.HostPathType(options["type"])
		source.HostPath = &corev1.HostPathVolumeSource{Path: options["path"], Type: &hostType}
	case "nfs":
		source.NFS = &corev1.NFSVolumeSource{Path: options["path"], Server: options["server"],
			ReadOnly: options["readOnly"] == "true"}
	case "persistentVolumeClaim":
		source.PersistentVolumeClaim = &corev1.PersistentVolumeClaimVolumeSource{
			ClaimName: options["claimName"], ReadOnly: options["readOnly"] == "true"}
	default:
		return source, fmt.Errorf("volume %s: unknown type %q", name, kind)
	}
	return source, nil
}
