{{/* "true" where this operator serves HTTPS; dict "root" $ "component" "testbed". */}}
{{- define "esi.tls" -}}
{{- if and (ne .root.Values.tls.mode "none") (has .component (list "testbed" "scheduling")) }}true{{ end -}}
{{- end }}

{{- define "esi.scheme" -}}
{{- ternary "https" "http" (eq (include "esi.tls" .) "true") -}}
{{- end }}

{{- define "esi.tlsSecret" -}}
{{- get .root.Values.tls.secrets .component | default (printf "%s-%s-tls" (include "esi.fullname" .root) .component) -}}
{{- end }}

{{/* The Secret with the client certificate that the scheduler shows the extender, and with its CA. */}}
{{- define "esi.clientSecret" -}}
{{- .Values.extender.clientCertificates.secret | default (printf "%s-extender-client" (include "esi.fullname" .)) -}}
{{- end }}

{{/* The CA of clients, out of the Secret of that name, for --client-ca-file=/etc/esi/client-ca/ca.crt. The CA only: a
key in the Secret is the client's. */}}
{{- define "esi.clientCAVolumes" -}}
- name: client-ca
  secret:
    secretName: {{ . }}
    items:
    - key: ca.crt
      path: ca.crt
{{- end }}

{{- define "esi.clientCAMounts" -}}
- name: client-ca
  mountPath: /etc/esi/client-ca
  readOnly: true
{{- end }}

{{/* All DNS names of an operator's server, as a YAML list: its Service, the original's Service, and
localhost for sidecars and port-forwards. */}}
{{- define "esi.dnsNames" -}}
{{- $original := get (dict "testbed" "extender-service" "scheduling" "external-scheduling-interface-service") .component -}}
{{- $namespace := .root.Release.Namespace -}}
{{- range $service := list (printf "%s-%s" (include "esi.fullname" .root) .component) $original }}
- {{ $service }}
- {{ $service }}.{{ $namespace }}
- {{ $service }}.{{ $namespace }}.svc
- {{ $service }}.{{ $namespace }}.svc.cluster.local
{{- end }}
- localhost
{{- end }}
