{{/* A ValidatingAdmissionPolicy with its binding; dict "root" $ "name" "testbed-pods" "spec" TEXT, and "scoped" true
for one that speaks of the watched namespaces only. */}}
{{- define "esi.policy" -}}
{{- $values := .root.Values -}}
{{- if ne $values.policies.mode "Off" }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicy
metadata:
  name: {{ include "esi.fullname" .root }}-{{ .name }}
  labels:
    {{- include "esi.commonLabels" .root | nindent 4 }}
spec:
  failurePolicy: Fail
  {{- .spec | trim | nindent 2 }}
---
apiVersion: admissionregistration.k8s.io/v1
kind: ValidatingAdmissionPolicyBinding
metadata:
  name: {{ include "esi.fullname" .root }}-{{ .name }}
  labels:
    {{- include "esi.commonLabels" .root | nindent 4 }}
spec:
  policyName: {{ include "esi.fullname" .root }}-{{ .name }}
  validationActions: {{ ternary "[Deny, Audit]" "[Warn, Audit]" (eq $values.policies.mode "Enforce") }}
  {{- if and .scoped $values.watchNamespaces }}
  matchResources:
    namespaceSelector:
      matchExpressions:
      - key: kubernetes.io/metadata.name
        operator: In
        values: {{ toJson $values.watchNamespaces }}
  {{- end }}
{{- end }}
{{- end }}

{{/* Matches requests of the account of a component; dict "root" $ "component" "testbed". */}}
{{- define "esi.policyOfAccount" -}}
matchConditions:
- name: account
  expression: request.userInfo.username == '{{ include "esi.user" . }}'
{{- end }}

{{/* The user name of the account of a component. */}}
{{- define "esi.user" -}}
system:serviceaccount:{{ .root.Release.Namespace }}:{{ include "esi.serviceAccount" . }}
{{- end }}

{{/* The variable `subject`, with which messages begin; dict "kind" "pod". */}}
{{- define "esi.policySubject" -}}
- name: meta
  expression: "(object == null ? oldObject : object).metadata"
- name: subject
  expression: "'{{ .kind }} ' + (has(variables.meta.namespace) ? variables.meta.namespace + '/' : '') + variables.meta.?name.orValue('')"
{{- end }}

{{/* A refusal; dict "unless" CEL "why" TEXT, in which no quote may be. */}}
{{- define "esi.refuse" -}}
- expression: >-
    {{- .unless | trim | nindent 4 }}
  messageExpression: >-
    variables.subject + ': {{ .why }}'
  reason: Forbidden
{{- end }}

{{/* CEL: two maps (or objects) are equal but for some keys; dict "new" CEL "old" CEL "but" LIST. */}}
{{- define "esi.same" -}}
{{- $but := toJson .but | replace "\"" "'" -}}
(dyn({{ .new }}).all(k, k in {{ $but }} || (k in dyn({{ .old }}) && dyn({{ .new }})[k] == dyn({{ .old }})[k])) && dyn({{ .old }}).all(k, k in {{ $but }} || k in dyn({{ .new }})))
{{- end }}

{{/* CEL: an object has no other members than these; dict "of" CEL "keys" LIST. */}}
{{- define "esi.onlyKeys" -}}
dyn({{ .of }}).all(k, k in {{ toJson .keys | replace "\"" "'" }})
{{- end }}

{{/* CEL: metadata is the same but for these keys, and for what the API server writes. */}}
{{- define "esi.sameMetadata" -}}
{{- $but := concat (list "managedFields" "resourceVersion" "generation") . -}}
{{- include "esi.same" (dict "new" "object.metadata" "old" "oldObject.metadata" "but" $but) -}}
{{- end }}

{{/* CEL: labels or annotations are the same but for these; dict "of" "labels" "but" LIST. Of more than 250 they are
not compared: that would cost more than the API server allows, so that whoever writes the object could keep an
operator from letting go of it. */}}
{{- define "esi.sameNotes" -}}
(size(object.metadata.?{{ .of }}.orValue({})) > 250 || size(oldObject.metadata.?{{ .of }}.orValue({})) > 250 || {{ include "esi.same" (dict "new" (printf "object.metadata.?%s.orValue({})" .of) "old" (printf "oldObject.metadata.?%s.orValue({})" .of) "but" .but) }})
{{- end }}
{{- define "esi.sameFinalizers" -}}
object.metadata.?finalizers.orValue([]).filter(f, f != '{{ . }}') == oldObject.metadata.?finalizers.orValue([]).filter(f, f != '{{ . }}')
{{- end }}

{{/* CEL: the namespace is one that the operators work on. */}}
{{- define "esi.watched" -}}
{{- if .Values.watchNamespaces -}}
request.namespace in {{ toJson .Values.watchNamespaces | replace "\"" "'" }}
{{- else -}}
true
{{- end -}}
{{- end }}

{{/* CEL: somebody who may label the namespace of the request has said that there are Testbeds in it. */}}
{{- define "esi.testbedsHere" -}}
namespaceObject.metadata.?labels[?'esi.tu-berlin.de/testbeds'].orValue('') == 'enabled'
{{- end }}

{{/* CEL: gangs are started in the namespace of the request. */}}
{{- define "esi.gangsHere" -}}
namespaceObject.metadata.?labels[?'esi.tu-berlin.de/gangs'].orValue('') == 'enabled'
{{- end }}

{{/* CEL: the pod, as it was before the request, waits at the gate of gangs, or esi-testbed has let it in. */}}
{{- define "esi.isMember" -}}
(oldObject != null && {{ include "esi.gangsHere" . }}
&& (oldObject.spec.?schedulingGates.orValue([]).exists(g, g.name == 'esi.tu-berlin.de/gang')
|| 'esi.tu-berlin.de/gang-node' in oldObject.metadata.?annotations.orValue({})))
{{- end }}

{{/* CEL: the pod, as it was before the request, is a driver that no operator has made, or an executor, and waits at the
gate of job pods. */}}
{{- define "esi.isWaitingForDriver" -}}
(oldObject != null && {{ include "esi.gangsHere" . }}
&& oldObject.metadata.?labels[?'spark-role'].orValue('') in ['driver', 'executor']
&& !('sparkoperator.k8s.io/app-name' in oldObject.metadata.?labels.orValue({}))
&& oldObject.spec.?schedulingGates.orValue([]).exists(g, g.name == 'esi.tu-berlin.de/slot'))
{{- end }}

{{/* CEL: no label of kubernetes.io and k8s.io has changed, by the variables labels and labelsBefore. */}}
{{- define "esi.ownLabels" -}}
(variables.labels.map(k, k) + variables.labelsBefore.map(k, k)).all(k, variables.labels[?k] == variables.labelsBefore[?k]
|| !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/'))
{{- end }}

{{/* CEL: the object says who asked for the change by the interface. */}}
{{- define "esi.requested" -}}
object.metadata.?annotations[?'esi.tu-berlin.de/requested-by'].orValue('') != ''
{{- end }}
