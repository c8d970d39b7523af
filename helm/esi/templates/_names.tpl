{{/* Beginning of all names: `esi` for a release esi, `RELEASE-esi` for others. */}}
{{- define "esi.fullname" -}}
{{- $chart := default .Chart.Name .Values.nameOverride -}}
{{- $name := .Values.fullnameOverride -}}
{{- if not $name -}}
{{- $name = ternary .Release.Name (printf "%s-%s" .Release.Name $chart) (contains $chart .Release.Name) -}}
{{- end -}}
{{- if gt (len $name) 36 -}}
{{- fail (printf "the names of the objects would begin with %q, which is longer than 36 characters: set fullnameOverride" $name) -}}
{{- end -}}
{{- $name -}}
{{- end }}

{{- define "esi.commonLabels" -}}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version | replace "+" "_" }}
app.kubernetes.io/name: {{ default .Chart.Name .Values.nameOverride }}
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/part-of: esi
app.kubernetes.io/managed-by: {{ .Release.Service }}
{{- with .Values.commonLabels }}
{{ toYaml . }}
{{- end }}
{{- end }}

{{/* Labels of an object; dict "root" $ "component" "testbed". */}}
{{- define "esi.labels" -}}
{{ include "esi.commonLabels" .root }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Labels by which Services, Deployments and policies find pods; they can never change. */}}
{{- define "esi.selectorLabels" -}}
app.kubernetes.io/name: {{ default .root.Chart.Name .root.Values.nameOverride }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .component }}
{{- end }}

{{/* Name of a PriorityClass; dict "root" $ "class" "ghost". */}}
{{- define "esi.priorityClass" -}}
{{- $values := .root.Values.priorityClasses -}}
{{- $prefix := ternary (include "esi.fullname" .root) "esi" $values.create -}}
{{- (get $values .class).name | default (printf "%s-%s" $prefix .class) -}}
{{- end }}

{{/* Name of the PriorityClass of claims with a priority: esi-claim-7, esi-claim-minus-7. Ghosts name it, so that it is the
same in each release. */}}
{{- define "esi.claimClass" -}}
{{- $value := int64 . -}}
esi-claim-{{ if lt $value 0 }}minus-{{ mul -1 $value }}{{ else }}{{ $value }}{{ end }}
{{- end }}

{{/* CEL: this is the name of such a class; a CEL text. */}}
{{- define "esi.isClaimClass" -}}
{{ . }}.matches('^esi-claim-(minus-)?[0-9]+$')
{{- end }}

{{/* An image of ESI's own; dict "root" $ "name" "esi-testbed" "digest" "". */}}
{{- define "esi.image" -}}
{{- $from := .root.Values.image -}}
{{- if .digest -}}
{{ $from.registry }}/{{ .name }}@{{ .digest }}
{{- else -}}
{{ $from.registry }}/{{ .name }}:{{ $from.tag | default .root.Chart.AppVersion }}
{{- end -}}
{{- end }}

{{/* The image of ghosts. */}}
{{- define "esi.ghostImage" -}}
{{ .Values.ghost.image | default (printf "%s/esi-pause:1" .Values.image.registry) }}
{{- end }}

{{- define "esi.port" -}}
{{- get (dict "testbed" 8080 "batchjob" 8081 "scheduling" 8082) .component -}}
{{- end }}

{{/* Namespace of the Java original's interface. */}}
{{- define "esi.interfaceNamespace" -}}
{{- .Values.interface.namespace | default (first .Values.watchNamespaces) | default "default" -}}
{{- end }}

{{/* The base with what the other map says; false, 0 and "" of the other map count, null takes a key away. */}}
{{- define "esi.merged" -}}
{{- $merged := deepCopy .base -}}
{{- range $key, $value := .over -}}
{{- $known := get $merged $key -}}
{{- if and (kindIs "map" $value) (kindIs "map" $known) -}}
{{- $value = include "esi.merged" (dict "base" $known "over" $value) | fromYaml -}}
{{- end -}}
{{- if kindIs "invalid" $value -}}
{{- $_ := unset $merged $key -}}
{{- else -}}
{{- $_ := set $merged $key $value -}}
{{- end -}}
{{- end -}}
{{- toYaml $merged -}}
{{- end }}

{{/* Values of one operator: `operators` and its own block; dict "root" $ "component" "testbed". */}}
{{- define "esi.settings" -}}
{{- $own := get .root.Values (printf "%sOperator" .component) -}}
{{- include "esi.merged" (dict "base" .root.Values.operators "over" $own) -}}
{{- end }}

{{- define "esi.serviceAccount" -}}
{{- $account := (include "esi.settings" . | fromYaml).serviceAccount -}}
{{- $account.name | default (printf "%s-%s" (include "esi.fullname" .root) .component) -}}
{{- end }}
