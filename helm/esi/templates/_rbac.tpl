{{- define "esi.subject" -}}
- kind: ServiceAccount
  name: {{ include "esi.serviceAccount" . }}
  namespace: {{ .root.Release.Namespace }}
{{- end }}

{{/* A ClusterRole for an operator; dict "root" $ "component" "testbed" "name" "esi-testbed" "rules" TEXT. */}}
{{- define "esi.clusterRights" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata:
  name: {{ .name }}
  labels:
    {{- include "esi.labels" . | nindent 4 }}
rules:
{{- .rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata:
  name: {{ .name }}
  labels:
    {{- include "esi.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: ClusterRole
  name: {{ .name }}
subjects:
{{ include "esi.subject" . }}
{{- end }}

{{/* The same in one namespace; dict as above, and "namespace". */}}
{{- define "esi.namespaceRights" }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: Role
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels:
    {{- include "esi.labels" . | nindent 4 }}
rules:
{{- .rules }}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: RoleBinding
metadata:
  name: {{ .name }}
  namespace: {{ .namespace }}
  labels:
    {{- include "esi.labels" . | nindent 4 }}
roleRef:
  apiGroup: rbac.authorization.k8s.io
  kind: Role
  name: {{ .name }}
subjects:
{{ include "esi.subject" . }}
{{- end }}

{{/* Rules for the namespaces that the operators work on: all of them, or watchNamespaces. */}}
{{- define "esi.rights" -}}
{{- $with := . -}}
{{- if .root.Values.watchNamespaces -}}
{{- range .root.Values.watchNamespaces -}}
{{- include "esi.namespaceRights" (merge (dict "namespace" .) $with) -}}
{{- end -}}
{{- else -}}
{{- include "esi.clusterRights" . -}}
{{- end -}}
{{- end }}

{{/* Service account and rights of one operator, out of its templates esi.COMPONENT.clusterRules (needed
in the whole cluster, always) and esi.COMPONENT.rules (in the namespaces that it works on). */}}
{{- define "esi.operatorRights" -}}
{{- $op := include "esi.settings" . | fromYaml -}}
{{- $name := printf "%s-%s" (include "esi.fullname" .root) .component -}}
{{- $cluster := include (printf "esi.%s.clusterRules" .component) .root -}}
{{- $rules := include (printf "esi.%s.rules" .component) .root -}}
{{- if $op.serviceAccount.create }}
---
# The account of esi-{{ .component }}, and its rights. Every rule says what needs it; nothing is granted that no
# code uses.
apiVersion: v1
kind: ServiceAccount
metadata:
  name: {{ include "esi.serviceAccount" . }}
  namespace: {{ .root.Release.Namespace }}
  labels:
    {{- include "esi.labels" . | nindent 4 }}
  {{- with $op.serviceAccount.annotations }}
  annotations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
# Pods that want the token say so.
automountServiceAccountToken: false
{{- end }}
{{- if $op.rbac.create }}
{{- if .root.Values.watchNamespaces }}
{{- if $cluster }}
{{- include "esi.clusterRights" (merge (dict "name" $name "rules" $cluster) .) }}
{{- end }}
{{- include "esi.rights" (merge (dict "name" $name "rules" $rules) .) }}
{{- else }}
{{- include "esi.clusterRights" (merge (dict "name" $name "rules" (print $cluster $rules)) .) }}
{{- end }}
{{- $lease := dict "namespace" .root.Release.Namespace "rules" (include "esi.leaseRules" (printf "esi-%s" .component)) }}
{{- include "esi.namespaceRights" (merge (dict "name" (printf "%s-leader-election" $name)) $lease .) }}
{{- end }}
{{- end }}

{{/* Rules of leader election for the lease with this name. */}}
{{- define "esi.leaseRules" }}
# The lease is made once; RBAC cannot bind a create to a name.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  verbs: [create]
# Leader election: read, renewed and released, this one lease only.
- apiGroups: [coordination.k8s.io]
  resources: [leases]
  resourceNames: [{{ . }}]
  verbs: [get, update]
{{- end }}
