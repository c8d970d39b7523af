"""Builders of what a user applies: Testbeds, BatchJobs, Schedulings, ordinary pods. Plain dicts."""

GROUP = "esi.tu-berlin.de/v1alpha1"
PREFIX = "esi.tu-berlin.de/"

#: The header without which /debug changes nothing.
DEBUG = {"X-ESI-Debug": "1"}


def esi(kind, name, spec):
    return {"apiVersion": GROUP, "kind": kind, "metadata": {"name": name}, "spec": spec}


def testbed(name, label, slots=2, cpu="600m", memory="1.75Gi", isolation=None, **resources):
    spec = {"slotsPerNode": slots, "nodeLabel": label,
            "resourcesPerSlot": {"cpu": cpu, "memory": memory, **resources}}
    if isolation:
        spec["isolation"] = isolation
    return esi("Testbed", name, spec)


def shape(name="workers", count=1, cpu="600m", memory="1Gi", role="worker", **more):
    return {"name": name, "count": count, "role": role, "resources": {"cpu": cpu, "memory": memory}, **more}


def claim(name, *shapes, **more):
    """A Testbed whose nodes ESI chooses."""
    return esi("Testbed", name, {"claim": {"shapes": list(shapes), **more}})


def spark_spec(seconds=1, driver=None, **more):
    """A SparkApplication's spec that the cluster's stand-in for Spark runs for so many seconds; further
    annotations of the driver steer it (integration-tests/cluster)."""
    notes = {"esi-test/run-seconds": str(seconds)} if seconds is not None else {}
    notes |= {key: str(value) for key, value in (driver or {}).items()}
    return {
        "type": "Scala", "mode": "cluster", "sparkVersion": "4.0.1", "image": "apache/spark:4.0.1",
        "mainClass": "org.apache.spark.examples.SparkPi",
        "mainApplicationFile": "local:///opt/spark/examples/jars/spark-examples.jar",
        "restartPolicy": {"type": "Never"},
        "driver": {"cores": 1, "coreRequest": "100m", "memory": "512m", "annotations": notes},
        "executor": {}, **more}


def job(name, seconds=1, driver=None, **more):
    return esi("BatchJob", name, {"sparkSpec": spark_spec(seconds, driver, **more)})


def flink_spec(seconds=1, notes=None, **more):
    """A flinkSpec whose job the cluster's stand-in for JobManagers runs for so many seconds; further
    annotations of the JobManager steer it (integration-tests/cluster)."""
    annotations = {"esi-test/run-seconds": str(seconds)} | {key: str(value) for key, value in (notes or {}).items()}
    return {
        # The operator of the tests is 1.7.0, which knows Flink up to 1.18.
        "image": "flink:1.18", "flinkVersion": "v1_18", "jarFile": "./examples/streaming/WordCount.jar",
        "className": "org.apache.flink.streaming.examples.wordcount.WordCount",
        "podAnnotations": annotations, **more}


def flink_job(name, seconds=1, notes=None, **more):
    return esi("BatchJob", name, {"flinkSpec": flink_spec(seconds, notes, **more)})


def reference(job_name):
    """'pi' or 'namespace/pi' as the API writes it."""
    namespace, _, name = job_name.rpartition("/")
    return {"namespace": namespace, "name": name} if namespace else {"name": name}


def queue(name, testbed_name, jobs, **more):
    return esi("Scheduling", name, {"testbed": reference(testbed_name),
                                    "queueBased": [reference(each) for each in jobs], **more})


def slot_plan(name, testbed_name, mode, jobs, **more):
    """`jobs`: [(job, [slot, ...]), ...]."""
    return esi("Scheduling", name, {
        "testbed": reference(testbed_name),
        "slotBased": {"mode": mode, "jobs": [{"name": reference(each), "slotIds": slots}
                                             for each, slots in jobs]}, **more})


def pool(name, testbed_name, jobs, **more):
    """`jobs`: {job: number of slots}."""
    return esi("Scheduling", name, {
        "testbed": reference(testbed_name),
        "poolBased": {"jobs": [{"name": reference(each), "slots": slots} for each, slots in jobs.items()]}, **more})


def pod(name, cpu="100m", memory="64Mi", node_selector=None, grace=None, **spec):
    """An ordinary pod, nothing of ESI's."""
    body = {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name},
            "spec": {"containers": [{"name": "main", "image": "none", "resources": {
                "requests": {"cpu": cpu, "memory": memory}}}], **spec}}
    if node_selector:
        body["spec"]["nodeSelector"] = node_selector
    if grace is not None:
        body["spec"]["terminationGracePeriodSeconds"] = grace
    return body
