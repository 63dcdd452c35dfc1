{{- define "bridged.name" -}}
{{ .Release.Name | trunc 40 | trimSuffix "-" }}
{{- end }}

{{- define "bridged.selector" -}}
app.kubernetes.io/name: bridged
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end }}

{{- define "bridged.labels" -}}
{{ include "bridged.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ .Chart.Name }}-{{ .Chart.Version }}
{{- end }}
