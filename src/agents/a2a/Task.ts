/** A task of the agent, and how it is written in each form of the protocol. Pure. */
import type { Json, JsonObject } from "../../wire/json/Json.ts"
import type { AgentSkillId } from "./SkillIds.ts"

/**
 * - `plain`: `skill` and `messages` in, `task`, `artifacts` and `metadata` out.
 * - `legacy`: A2A 0.3 (`message/send`, `kind` in each object).
 * - `current`: A2A 1.0 (`SendMessage`, the JSON form of its protocol buffers).
 */
export type Form = "plain" | "legacy" | "current"

export type TaskState = "submitted" | "working" | "completed" | "failed" | "canceled" | "rejected"

export const isOver = (state: TaskState): boolean => state !== "submitted" && state !== "working"

export interface TaskFacts {
  /** Sentence on the chosen target and the reason; null where nothing was routed. */
  readonly routingExplanation: string | null
  readonly estimatedUsd: number | null
  readonly actualUsd: number | null
  readonly trace: ReadonlyArray<{ readonly event: string; readonly provider: string; readonly timestamp: string }>
  readonly allowed: boolean
  /** Reason, where it is not allowed; else the rule that allows it. */
  readonly reason: string
}

export const noFacts: TaskFacts = {
  routingExplanation: null,
  estimatedUsd: null,
  actualUsd: 0,
  trace: [],
  allowed: true,
  reason: "The caller may ask this."
}

export interface Task {
  readonly id: string
  readonly contextId: string
  /** Identity of its owner. */
  readonly identity: string
  readonly skill: AgentSkillId
  /** Form of the message that it was begun with. */
  readonly form: Form
  state: TaskState
  /** Time at which its state began, in milliseconds since 1970. */
  sinceMs: number
  /** Markdown; null before it is completed. */
  answer: string | null
  /** Reason for which it failed or was refused. */
  problem: string | null
  facts: TaskFacts
}

const metadataOf = ({ facts, skill }: Task): JsonObject => ({
  skill,
  routing_explanation: facts.routingExplanation,
  cost_envelope: { estimated: facts.estimatedUsd, actual: facts.actualUsd, currency: "USD" },
  resilience_trace: facts.trace.map(({ event, provider, timestamp }) => ({ event, provider, timestamp })),
  policy_verdict: { allowed: facts.allowed, reason: facts.reason }
})

const timestampOf = ({ sinceMs }: Task): string => new Date(sinceMs).toISOString()

const currentStates: Readonly<Record<TaskState, string>> = {
  submitted: "TASK_STATE_SUBMITTED",
  working: "TASK_STATE_WORKING",
  completed: "TASK_STATE_COMPLETED",
  failed: "TASK_STATE_FAILED",
  canceled: "TASK_STATE_CANCELED",
  rejected: "TASK_STATE_REJECTED"
}

/** A word of British spelling, and no refusal apart from a failure: what the plain form knows. */
const plainStates: Readonly<Record<TaskState, string>> = {
  submitted: "submitted",
  working: "working",
  completed: "completed",
  failed: "failed",
  canceled: "cancelled",
  rejected: "failed"
}

const partOf = (form: Form, text: string): JsonObject => (form === "legacy" ? { kind: "text", text } : { text })

const messageOf = (form: Form, task: Task, text: string): JsonObject => ({
  ...(form === "legacy" ? { kind: "message", role: "agent" } : { role: "ROLE_AGENT" }),
  messageId: `${task.id}-status`,
  taskId: task.id,
  contextId: task.contextId,
  parts: [partOf(form, text)]
})

const statusOf = (form: Form, task: Task): JsonObject => ({
  state: form === "current" ? currentStates[task.state] : task.state,
  timestamp: timestampOf(task),
  ...(task.problem === null ? {} : { message: messageOf(form, task, task.problem) })
})

const artifactOf = (form: Form, task: Task, answer: string): JsonObject => ({
  artifactId: `${task.id}-answer`,
  name: task.skill,
  parts: [partOf(form, answer)]
})

const standard = (form: Form, task: Task): JsonObject => ({
  ...(form === "legacy" ? { kind: "task" } : {}),
  id: task.id,
  contextId: task.contextId,
  status: statusOf(form, task),
  artifacts: task.answer === null ? [] : [artifactOf(form, task, task.answer)],
  metadata: metadataOf(task)
})

const plain = (task: Task): JsonObject => ({
  task: { id: task.id, state: plainStates[task.state] },
  artifacts: task.answer === null ? [] : [{ type: "text", content: task.answer }],
  ...(task.problem === null ? {} : { error: { message: task.problem } }),
  metadata: metadataOf(task)
})

/** Writes the task as the answer to `tasks/get` and `tasks/cancel`. */
export const taskResult = (form: Form, task: Task): JsonObject =>
  form === "plain" ? plain(task) : standard(form, task)

/** Writes the task as the answer to a message. */
export const sendResult = (form: Form, task: Task): JsonObject =>
  form === "current" ? { task: standard(form, task) } : taskResult(form, task)

const event = (form: Form, kind: "status-update" | "artifact-update", members: JsonObject): JsonObject => {
  if (form === "legacy") return { kind, ...members }
  return kind === "status-update" ? { statusUpdate: members } : { artifactUpdate: members }
}

/** Writes the event of a stream when a task begins. */
export const firstEvent = (form: Form, task: Task): JsonObject => sendResult(form, task)

/** Writes the events of a new state; the answer comes ahead of the state that ends the task. */
export const nextEvents = (form: Form, task: Task): ReadonlyArray<JsonObject> => {
  if (form === "plain") return [plain(task)]
  const own: JsonObject = { taskId: task.id, contextId: task.contextId }
  const final: { readonly [name: string]: Json } = form === "legacy" ? { final: isOver(task.state) } : {}
  const status = event(form, "status-update", {
    ...own,
    status: statusOf(form, task),
    ...final,
    metadata: metadataOf(task)
  })
  if (task.answer === null) return [status]
  return [
    event(form, "artifact-update", {
      ...own,
      artifact: artifactOf(form, task, task.answer),
      append: false,
      lastChunk: true
    }),
    status
  ]
}
