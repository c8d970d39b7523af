// FlinkDeployments of Apache's operator, mode standalone.
#include "base/application_kinds.h"

namespace esi::simulation::applications {

namespace {

/// The members and types of its spec as the CustomResourceDefinition of the Apache operator has
/// them (1.7; the versions of Flink are those that its releases up to now know). Of the pod
/// templates the members of metadata and spec are known and their types, not what is inside of
/// them. Written down here in short, because the definition itself belongs to others.
constexpr const char* schema = R"(
type: object
properties:
  spec:
    type: object
    properties:
      image: {type: string}
      imagePullPolicy: {type: string}
      serviceAccount: {type: string}
      flinkVersion:
        type: string
        enum: [v1_13, v1_14, v1_15, v1_16, v1_17, v1_18, v1_19, v1_20, v2_0, v2_1]
      ingress: {type: object, x-kubernetes-preserve-unknown-fields: true}
      mode: {type: string, enum: [native, standalone]}
      restartNonce: {type: integer}
      flinkConfiguration: {type: object, additionalProperties: {type: string}}
      logConfiguration: {type: object, additionalProperties: {type: string}}
      podTemplate: &template
        type: object
        properties:
          apiVersion: {type: string}
          kind: {type: string}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
          metadata:
            type: object
            properties:
              name: {type: string}
              namespace: {type: string}
              generateName: {type: string}
              labels: &texts {type: object, additionalProperties: {type: string}}
              annotations: *texts
              finalizers: {type: array, items: {type: string}}
              ownerReferences: &objects
                type: array
                items: &open {type: object, x-kubernetes-preserve-unknown-fields: true}
          spec:
            type: object
            properties:
              activeDeadlineSeconds: {type: integer}
              affinity: *open
              automountServiceAccountToken: {type: boolean}
              containers: *objects
              dnsConfig: *open
              dnsPolicy: {type: string}
              enableServiceLinks: {type: boolean}
              ephemeralContainers: *objects
              hostAliases: *objects
              hostIPC: {type: boolean}
              hostNetwork: {type: boolean}
              hostPID: {type: boolean}
              hostUsers: {type: boolean}
              hostname: {type: string}
              imagePullSecrets: *objects
              initContainers: *objects
              nodeName: {type: string}
              nodeSelector: *texts
              os: *open
              overhead: *open
              preemptionPolicy: {type: string}
              priority: {type: integer}
              priorityClassName: {type: string}
              readinessGates: *objects
              resourceClaims: *objects
              restartPolicy: {type: string}
              runtimeClassName: {type: string}
              schedulerName: {type: string}
              schedulingGates: *objects
              securityContext: *open
              serviceAccount: {type: string}
              serviceAccountName: {type: string}
              setHostnameAsFQDN: {type: boolean}
              shareProcessNamespace: {type: boolean}
              subdomain: {type: string}
              terminationGracePeriodSeconds: {type: integer}
              tolerations: *objects
              topologySpreadConstraints: *objects
              volumes: *objects
      jobManager: &role
        type: object
        properties:
          replicas: {type: integer}
          resource:
            type: object
            properties:
              cpu: {type: number}
              memory: {type: string}
              ephemeralStorage: {type: string}
          podTemplate: *template
      taskManager: *role
      job:
        type: object
        properties:
          jarURI: {type: string}
          entryClass: {type: string}
          args: {type: array, items: {type: string}}
          parallelism: {type: integer}
          state: {type: string, enum: [running, suspended]}
          upgradeMode: {type: string, enum: [savepoint, last-state, stateless]}
          allowNonRestoredState: {type: boolean}
          initialSavepointPath: {type: string}
          savepointTriggerNonce: {type: integer}
          checkpointTriggerNonce: {type: integer}
  status: {type: object, x-kubernetes-preserve-unknown-fields: true}
)";

json small_spec(std::string_view) {
    return {{"jarFile", "./examples/batch/WordCount.jar"},
            {"className", "org.apache.flink.examples.java.wordcount.WordCount"},
            {"args", json::array({"--input", "./README.txt"})}};
}

json swept_spec() {
    return {{"jarFile", "./examples/batch/WordCount.jar"},
            {"className", "org.apache.flink.examples.java.wordcount.WordCount"},
            {"args", json::array({"--input", "./README.txt"})},
            {"image", "example/flink:1.20"},
            {"flinkVersion", "v1_20"},
            {"taskSlots", 1},
            {"parallelism", 2},
            {"restartPolicy", "Never"},
            {"savepointsDir", "file:///savepoints"},
            {"allowNonRestoredState", false},
            {"flinkConfiguration", {{"taskmanager.memory.managed.fraction", "0.4"}}},
            {"resources", {{"requests", {{"cpu", "200m"}, {"memory", "1Gi"}}}}},
            {"podLabels", {{"app", "words"}}},
            {"volumes", json::array({{{"name", "data"}, {"emptyDir", json::object()}}})},
            {"volumeMounts", json::array({{{"name", "data"}, {"mountPath", "/data"}}})},
            {"taskManager", {{"podTemplate", {{"metadata", {{"labels", {{"tier", "1"}}}}}}}}}};
}

/// What ESI reads in a flinkSpec.
json swept_schema() {
    return json::parse(R"({"type": "object", "properties": {
        "jarFile": {"type": "string"}, "className": {"type": "string"},
        "args": {"type": "array", "items": {"type": "string"}},
        "image": {"type": "string"}, "flinkVersion": {"type": "string"},
        "serviceAccount": {"type": "string"},
        "taskSlots": {"type": "integer", "format": "int32"},
        "parallelism": {"type": "integer", "format": "int32"},
        "pyFile": {"type": "string"}, "fromSavepoint": {"type": "string"},
        "restartPolicy": {"type": "string", "enum": ["Never", "FromSavepointOnFailure"]},
        "savepointsDir": {"type": "string"}, "allowNonRestoredState": {"type": "boolean"},
        "autoSavepointSeconds": {"type": "integer", "format": "int32"},
        "flinkConfiguration": {"type": "object",
          "properties": {"taskmanager.numberOfTaskSlots": {"type": "string"},
                         "kubernetes.cluster-id": {"type": "string"}}},
        "resources": {"type": "object", "properties": {"requests": {"type": "object",
          "properties": {"cpu": {"x-kubernetes-int-or-string": true},
                         "memory": {"x-kubernetes-int-or-string": true}}}}},
        "podLabels": {"type": "object", "properties": {"app": {"type": "string"}}},
        "volumes": {"type": "array", "items": {"type": "object"}},
        "volumeMounts": {"type": "array", "items": {"type": "object"}},
        "taskManager": {"type": "object", "properties": {"podTemplate": {"type": "object",
          "properties": {"metadata": {"type": "object"}, "spec": {"type": "object"}}}}}}})");
}

}  // namespace

application_kind flink() {
    return {.name = "flink",
            .type = &kube::types::flink_deployment,
            .spec = "flinkSpec",
            .coordinator = {"component", "jobmanager"},
            .worker = {"component", "taskmanager"},
            .coordinator_of = "app",
            .state = {"status", "jobStatus", "state"},
            .good_end = "FINISHED",
            .neighbours = {"flink-operator", "deployments"},
            .cancellable = true,
            .schema = schema,
            .has_rules = true,
            .spec_of = small_spec,
            .edits = {{{"className", "org.example.Other"}},
                      {{"args", json::array({"--input", "./LICENSE"})}}},
            .swept_spec = swept_spec(),
            .swept_schema = swept_schema()};
}

}  // namespace esi::simulation::applications
