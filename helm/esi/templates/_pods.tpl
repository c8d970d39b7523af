{{/* Where pods of a component should run: preferably not on one node; dict "root" $ "component" "testbed". */}}
{{- define "esi.apart" -}}
podAntiAffinity:
  preferredDuringSchedulingIgnoredDuringExecution:
  - weight: 100
    podAffinityTerm:
      topologyKey: kubernetes.io/hostname
      labelSelector:
        matchLabels:
          {{- include "esi.selectorLabels" . | nindent 10 }}
{{- end }}

{{/* The keys of a pod's spec that say where it may run; dict with "settings" too. */}}
{{- define "esi.whereToRun" -}}
{{- $ownPods := dict "matchLabels" (include "esi.selectorLabels" . | fromYaml) -}}
affinity:
{{- if .settings.affinity }}
  {{- toYaml .settings.affinity | nindent 2 }}
{{- else }}
  {{- include "esi.apart" . | nindent 2 }}
{{- end }}
{{- with .settings.nodeSelector }}
nodeSelector:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.tolerations }}
tolerations:
  {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .settings.topologySpreadConstraints }}
topologySpreadConstraints:
{{- range . }}
- {{- toYaml (merge (deepCopy .) (dict "labelSelector" $ownPods)) | nindent 2 }}
{{- end }}
{{- end }}
{{- with .settings.priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- end }}

{{- define "esi.probe" -}}
httpGet:
  path: {{ .path }}
  port: http
  {{- if eq (include "esi.tls" .) "true" }}
  scheme: HTTPS
  {{- end }}
{{ toYaml .times }}
{{- end }}

{{/* Flags that all operators have, and extraArgs; dict "root" $ "component" "testbed" "settings" OP. */}}
{{- define "esi.commonArgs" -}}
{{- $values := .root.Values }}
- --leader-elect-namespace={{ .root.Release.Namespace }}
- --leader-elect-lease-duration={{ $values.leaderElection.leaseDuration }}
- --leader-elect-renew-deadline={{ $values.leaderElection.renewDeadline }}
- --leader-elect-retry-period={{ $values.leaderElection.retryPeriod }}
- --log-level={{ $values.log.level }}
- --log-format={{ $values.log.format }}
{{- range $values.watchNamespaces }}
- --namespace={{ . }}
{{- end }}
{{- with .settings.cacheShareBytes }}
- --cache-share-bytes={{ int64 . }}
{{- end }}
{{- if .settings.kubeApiQps }}
- --kube-api-qps={{ .settings.kubeApiQps }}
{{- end }}
{{- if eq (include "esi.tls" .) "true" }}
- --tls-cert-file=/etc/esi/tls/tls.crt
- --tls-private-key-file=/etc/esi/tls/tls.key
{{- end }}
{{- range .settings.extraArgs }}
- {{ . | quote }}
{{- end }}
{{- end }}

{{/* The container of an operator, without name and probes; dict "root" $ "component" "testbed" "settings" OP,
and "mounts", a list of more volumeMounts. */}}
{{- define "esi.operatorContainer" -}}
{{- $image := .settings.image -}}
image: {{ include "esi.image" (dict "root" .root "name" ($image.repository | default (printf "esi-%s" .component)) "digest" $image.digest) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args:
{{- include (printf "esi.%s.args" .component) .root }}
{{- include "esi.commonArgs" . }}
env:
# With them a restarted container takes the lease of its predecessor in the same pod at once.
- name: POD_NAME
  valueFrom:
    fieldRef:
      fieldPath: metadata.name
- name: POD_UID
  valueFrom:
    fieldRef:
      fieldPath: metadata.uid
{{- with .settings.extraEnv }}
{{ toYaml . }}
{{- end }}
ports:
- name: http
  containerPort: {{ include "esi.port" . }}
resources:
  {{- toYaml .settings.resources | nindent 2 }}
securityContext:
  {{- toYaml .settings.securityContext | nindent 2 }}
{{- $tls := eq (include "esi.tls" .) "true" }}
{{- if or $tls .mounts }}
volumeMounts:
{{- if $tls }}
- name: tls
  mountPath: /etc/esi/tls
  readOnly: true
{{- end }}
{{- with .mounts }}
{{ toYaml . }}
{{- end }}
{{- end }}
{{- end }}

{{- define "esi.tlsVolume" -}}
- name: tls
  secret:
    secretName: {{ include "esi.tlsSecret" . }}
{{- end }}

{{/* The Deployment of one operator, out of its template esi.COMPONENT.args; dict "root" $ "component" "testbed",
and "mounts" and "volumes", lists of more of them. */}}
{{- define "esi.deployment" -}}
{{- $settings := include "esi.settings" . | fromYaml -}}
{{- $with := merge (dict "settings" $settings) . -}}
apiVersion: apps/v1
kind: Deployment
metadata:
  name: {{ include "esi.fullname" .root }}-{{ .component }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "esi.labels" . | nindent 4 }}
spec:
  replicas: {{ $settings.replicas }}
  strategy:
    rollingUpdate:
      maxSurge: 1
      maxUnavailable: 0
  selector:
    matchLabels:
      {{- include "esi.selectorLabels" . | nindent 6 }}
  template:
    metadata:
      labels:
        {{- include "esi.labels" . | nindent 8 }}
        {{- with $settings.podLabels }}
        {{- toYaml . | nindent 8 }}
        {{- end }}
      {{- with $settings.podAnnotations }}
      annotations:
        {{- toYaml . | nindent 8 }}
      {{- end }}
    spec:
      serviceAccountName: {{ include "esi.serviceAccount" . }}
      automountServiceAccountToken: true
      enableServiceLinks: false
      terminationGracePeriodSeconds: {{ $settings.terminationGracePeriodSeconds }}
      securityContext:
        {{- toYaml $settings.podSecurityContext | nindent 8 }}
      {{- with .root.Values.imagePullSecrets }}
      imagePullSecrets:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      {{- include "esi.whereToRun" $with | nindent 6 }}
      containers:
      - name: esi-{{ .component }}
        {{- include "esi.operatorContainer" $with | nindent 8 }}
        startupProbe:
          {{- include "esi.probe" (merge (dict "path" "/livez" "times" $settings.startupProbe) .) | nindent 10 }}
        livenessProbe:
          {{- include "esi.probe" (merge (dict "path" "/livez" "times" $settings.livenessProbe) .) | nindent 10 }}
        readinessProbe:
          {{- include "esi.probe" (merge (dict "path" "/readyz" "times" $settings.readinessProbe) .) | nindent 10 }}
      {{- $tls := eq (include "esi.tls" .) "true" }}
      {{- if or $tls .volumes }}
      volumes:
      {{- if $tls }}
      {{- include "esi.tlsVolume" . | nindent 6 }}
      {{- end }}
      {{- with .volumes }}
      {{- toYaml . | nindent 6 }}
      {{- end }}
      {{- end }}
{{- end }}
