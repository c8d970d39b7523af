#include "server/flink_schema.h"

#include <yaml-cpp/yaml.h>

namespace esi::simulation {

namespace {

constexpr const char* text = R"(
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

}  // namespace

std::unique_ptr<schema> schema_of_flink_deployment() {
    return std::make_unique<schema>(YAML::Load(text), "FlinkDeployment", true);
}

}  // namespace esi::simulation
