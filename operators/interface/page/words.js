// What states are called, and their signs: a state is never told by colour alone.

export const slotStates = {
  FREE: { sign: "○", word: "free", tone: "free", text: "a ghost keeps its room" },
  RESERVED: { sign: "◐", word: "reserved", tone: "reserved", text: "assigned, its pod is on the way, or its ghost returns" },
  OCCUPIED: { sign: "●", word: "occupied", tone: "occupied", text: "a job pod is in it" },
  ERROR: { sign: "✕", word: "error", tone: "bad", text: "neither ghost nor job pod can be there" },
  "": { sign: "?", word: "unknown", tone: "muted", text: "not reported yet" },
};

const jobStates = {
  InitState: ["◌", "new", "muted"],
  ReadyState: ["○", "ready", "free"],
  Refused: ["✕", "refused", "bad"],
  CannotStart: ["✕", "cannot start", "bad"],
  InQueueState: ["◔", "in queue", "reserved"],
  SubmittedState: ["◑", "submitted", "reserved"],
  ScheduledState: ["◕", "scheduled", "occupied"],
  RunningState: ["▶", "running", "occupied"],
  CompletedState: ["✓", "completed", "good"],
  FailedState: ["✕", "failed", "bad"],
  FailedSubmissionState: ["✕", "submission failed", "bad"],
  PendingDeletion: ["⌫", "being deleted", "muted"],
};
const schedulingStates = {
  InitialState: ["◌", "new", "muted"],
  AcquireState: ["◔", "waits for testbed and jobs", "reserved"],
  ConfirmationState: ["◑", "waits for free slots", "reserved"],
  SubmissionState: ["▶", "starts its jobs", "occupied"],
  AwaitingCompletionState: ["▶", "all jobs started", "occupied"],
  CompletedState: ["✓", "completed, still holds", "good"],
  FinishedState: ["✓", "finished", "good"],
  FailedState: ["✕", "failed", "bad"],
  Error: ["✕", "error", "bad"],
};
const testbedStates = {
  INITIAL: ["◌", "not looked at yet", "muted"],
  IN_PROGRESS: ["◐", "in progress", "reserved"],
  SUCCESS: ["○", "idle", "good"],
  RUNNING: ["●", "running", "occupied"],
  ERROR: ["✕", "error", "bad"],
};
const progressStates = {
  Acquiring: ["◌", "to be acquired", "muted"],
  InQueue: ["◔", "in queue", "reserved"],
  Submitted: ["◑", "starting", "reserved"],
  Scheduled: ["▶", "running", "occupied"],
  Completed: ["✓", "ended", "good"],
};
const outcomes = {
  Running: ["▶", "running", "occupied"],
  Succeeded: ["✓", "succeeded", "good"],
  Failed: ["✕", "failed", "bad"],
  Released: ["⏏", "released", "muted"],
  Deleted: ["⌫", "deleted", "muted"],
  ReleasedByHand: ["⏏", "released by hand", "muted"],
  Cancelled: ["⊘", "cancelled", "muted"],
  Suspended: ["‖", "suspended", "reserved"],
  DeadlineExceeded: ["✕", "deadline exceeded", "bad"],
};
const tables = { job: jobStates, scheduling: schedulingStates, testbed: testbedStates, progress: progressStates, outcome: outcomes };

/** {sign, word, tone}; of a word that is new to this page the word itself. */
export function stateOf(table, name) {
  const [sign, word, tone] = tables[table][name] ?? ["•", name || "unknown", "muted"];
  return { sign, word, tone };
}
