{{- define "gateway.name" -}}
{{- printf "%s-%s" .Release.Name (default .Chart.Name .Values.nameOverride) | trunc 52 | trimSuffix "-" -}}
{{- end -}}

{{- define "gateway.selector" -}}
app.kubernetes.io/name: {{ .Chart.Name }}
app.kubernetes.io/instance: {{ .Release.Name }}
{{- end -}}

{{- define "gateway.labels" -}}
{{ include "gateway.selector" . }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{- define "gateway.secret" -}}
{{- default (include "gateway.name" .) .Values.secret.existing -}}
{{- end -}}

{{- define "gateway.image" -}}
{{- if .Values.image.digest -}}
{{ .Values.image.repository }}@{{ .Values.image.digest }}
{{- else -}}
{{ .Values.image.repository }}:{{ default .Chart.AppVersion .Values.image.tag }}
{{- end -}}
{{- end -}}

{{- define "gateway.check" -}}
{{- if and (gt (int .Values.replicas) 1) (not .Values.database.enabled) -}}
{{- fail "Several gateways need one database: set database.enabled, and GATEWAY_DATABASE_URL in the secret (docs/cluster.md)." -}}
{{- end -}}
{{- if not .Values.secret.existing -}}
{{- if not .Values.secret.adminKey -}}
{{- fail "Set secret.adminKey (16 characters or more), or secret.existing: without it nobody can sign in for the first time from outside of the container." -}}
{{- end -}}
{{- if and .Values.database.enabled (not .Values.secret.databaseUrl) -}}
{{- fail "Set secret.databaseUrl, or secret.existing: database.enabled needs the address of the database." -}}
{{- end -}}
{{- if and .Values.database.enabled (not .Values.secret.encryptionKey) -}}
{{- fail "Set secret.encryptionKey (openssl rand -base64 32): all gateways on a database have the same one." -}}
{{- end -}}
{{- end -}}
{{- end -}}
