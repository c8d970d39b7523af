"""What ESI consists of. The tests in Python have each of these lists from here; a further operator, or a further
kind, is a line of this file.
"""
#: Operator -> the port that its documentation names. It is also the name of the program esi-NAME, of the chart's
#: component and of the service account.
PORTS = {"testbed": 8080, "batchjob": 8081, "scheduling": 8082}
OPERATORS = tuple(PORTS)

#: Kinds of ESI's own -> plural. The file of a kind is crds/KIND.yaml, in lower case.
KINDS = {"Testbed": "testbeds", "BatchJob": "batchjobs", "Scheduling": "schedulings",
         "TestbedSlotSlice": "testbedslotslices"}
GROUP = "esi.tu-berlin.de"

#: Kinds of applications that a BatchJob can be -> (their API, plural).
APPLICATIONS = {
    "SparkApplication": ("sparkoperator.k8s.io/v1beta2", "sparkapplications"),
    "FlinkDeployment": ("flink.apache.org/v1beta1", "flinkdeployments"),
}
