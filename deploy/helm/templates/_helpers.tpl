{{/* The prefix of every name. */}}
{{- define "lead-scoring.name" -}}
{{- .Release.Name | trunc 40 | trimSuffix "-" -}}
{{- end -}}

{{/* Labels of every object. */}}
{{- define "lead-scoring.labels" -}}
app.kubernetes.io/name: lead-scoring
app.kubernetes.io/instance: {{ .Release.Name }}
app.kubernetes.io/version: {{ .Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .Chart.Name .Chart.Version }}
{{- end -}}

{{/* Labels by which pods are selected. Arguments: root, and component or not. */}}
{{- define "lead-scoring.selector" -}}
app.kubernetes.io/name: lead-scoring
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- with .component }}
app.kubernetes.io/component: {{ . }}
{{- end }}
{{- end -}}

{{/* The port of health and metrics. Argument: the component. */}}
{{- define "lead-scoring.internalPort" -}}
{{- ternary "9464" "8080" (eq . "gateway") -}}
{{- end -}}

{{/* A value as an environment variable: whole numbers without an exponent. */}}
{{- define "lead-scoring.text" -}}
{{- if kindIs "float64" . -}}{{ int64 . | toString | quote }}{{- else -}}{{ . | toString | quote }}{{- end -}}
{{- end -}}

{{/* The variables of one process: those of the chart, then settings, then secrets. Arguments: root, process, own, secretName. */}}
{{- define "lead-scoring.environment" -}}
{{- $root := .root -}}
{{- $name := include "lead-scoring.name" $root -}}
{{- $read := index ($root.Files.Get "files/settings.json" | fromJson) .process -}}
{{- $secretName := .secretName -}}
- { name: HOST, value: 0.0.0.0 }
- { name: PORT, value: '8080' }
{{- if eq .process "gateway" }}
- { name: INTERNAL_PORT, value: '9464' }
{{- end }}
{{- if eq .process "kafka-source" }}
- { name: SOURCE_FILE, value: /etc/lead-scoring/source/source.json }
{{- end }}
{{- range $read.addresses }}
- name: {{ .setting }}
  value: http://{{ $name }}-{{ .service }}:8080
{{- end }}
{{- $set := mergeOverwrite (deepCopy $root.Values.settings) (.own | default dict) -}}
{{- range $read.settings }}
{{- if hasKey $set . }}
- name: {{ . }}
  value: {{ include "lead-scoring.text" (index $set .) }}
{{- end }}
{{- end }}
{{- range $read.secrets }}
- name: {{ .setting }}
  valueFrom:
    secretKeyRef:
      name: {{ ternary $secretName $root.Values.secrets.name (hasPrefix "SOURCE_" .setting) }}
      key: {{ .setting }}
      optional: {{ not .isRequired }}
{{- end }}
{{- end -}}

{{/* The pod of one process. Arguments: root, component, process, image, own, secretName, resources, command. */}}
{{- define "lead-scoring.pod" -}}
{{- $root := .root -}}
{{- $answering := index $root.Values.settings "SHUTDOWN_DELAY_MS" | default 0 -}}
{{- $shutdown := index $root.Values.settings "SHUTDOWN_TIMEOUT_MS" | default 10000 -}}
metadata:
  labels:
    {{- include "lead-scoring.labels" $root | nindent 4 }}
    app.kubernetes.io/component: {{ .component }}
  annotations:
    prometheus.io/scrape: 'true'
    prometheus.io/port: {{ include "lead-scoring.internalPort" .process | quote }}
    prometheus.io/path: /metrics
    {{- with $root.Values.podAnnotations }}
    {{- toYaml . | nindent 4 }}
    {{- end }}
spec:
  automountServiceAccountToken: false
  enableServiceLinks: false
  # A process that starts again in its pod finds that its predecessor has ended, and takes its partitions at once.
  shareProcessNamespace: true
  # From the signal to the end: SHUTDOWN_DELAY_MS and SHUTDOWN_TIMEOUT_MS, after which a process ends itself.
  terminationGracePeriodSeconds: {{ add 10 (div (add (int64 $answering) (int64 $shutdown)) 1000) }}
  securityContext:
    runAsNonRoot: true
    runAsUser: 1000
    runAsGroup: 1000
    fsGroup: 1000
    seccompProfile: { type: RuntimeDefault }
  topologySpreadConstraints:
    - maxSkew: 1
      topologyKey: kubernetes.io/hostname
      whenUnsatisfiable: ScheduleAnyway
      labelSelector:
        matchLabels:
          {{- include "lead-scoring.selector" (dict "root" $root "component" .component) | nindent 10 }}
  {{- with $root.Values.image.pullSecrets }}
  imagePullSecrets:
    {{- range . }}
    - name: {{ . }}
    {{- end }}
  {{- end }}
  {{- with $root.Values.nodeSelector }}
  nodeSelector:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  {{- with $root.Values.tolerations }}
  tolerations:
    {{- toYaml . | nindent 4 }}
  {{- end }}
  containers:
    - name: {{ .process }}
      image: {{ printf "%s/%s:%s" $root.Values.image.repository .image ($root.Values.image.tag | default $root.Chart.AppVersion) }}
      imagePullPolicy: {{ $root.Values.image.pullPolicy }}
      {{- with .command }}
      command:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      env:
        {{- include "lead-scoring.environment" . | nindent 8 }}
      ports:
        - { name: http, containerPort: 8080 }
        {{- if eq .process "gateway" }}
        - { name: internal, containerPort: 9464 }
        {{- end }}
      {{- $probed := ternary "internal" "http" (eq .process "gateway") }}
      # The port answers once the topics, schemas and indexes are there, which a first start makes.
      startupProbe:
        httpGet: { path: /healthz, port: {{ $probed }} }
        periodSeconds: 2
        failureThreshold: 150
      readinessProbe:
        httpGet: { path: /readyz, port: {{ $probed }} }
        periodSeconds: 5
        timeoutSeconds: 3
        failureThreshold: 2
      livenessProbe:
        httpGet: { path: /healthz, port: {{ $probed }} }
        periodSeconds: 10
        timeoutSeconds: 10
        failureThreshold: 6
      {{- with .resources }}
      resources:
        {{- toYaml . | nindent 8 }}
      {{- end }}
      securityContext:
        allowPrivilegeEscalation: false
        readOnlyRootFilesystem: true
        capabilities: { drop: [ALL] }
      volumeMounts:
        - { name: temporary, mountPath: /tmp }
        {{- if $root.Values.files.secretName }}
        - { name: files, mountPath: /etc/lead-scoring/files, readOnly: true }
        {{- end }}
        {{- if eq .process "kafka-source" }}
        - { name: source, mountPath: /etc/lead-scoring/source, readOnly: true }
        {{- end }}
  volumes:
    - { name: temporary, emptyDir: { sizeLimit: 256Mi } }
    {{- with $root.Values.files.secretName }}
    - { name: files, secret: { secretName: {{ . }} } }
    {{- end }}
    {{- if eq .process "kafka-source" }}
    - { name: source, configMap: { name: {{ include "lead-scoring.name" $root }}-{{ .component }} } }
    {{- end }}
{{- end -}}
