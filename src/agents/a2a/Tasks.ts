/**
 * The tasks of the agent: in memory, bounded, and removed some minutes after their last change. Over the bound the caller with the most of them loses
 * the one that it used longest ago of those that are over.
 */
import * as Context from "effect/Context"
import * as Layer from "effect/Layer"
import type { ContentPermission } from "../../contract/domain/ContentPermission.ts"
import { FairPool } from "../../kernel/collections/FairPool.ts"
import { shareOf } from "../../kernel/collections/FairShare.ts"
import { type Form, isOver, noFacts, type Task, type TaskFacts, type TaskState } from "./Task.ts"
import type { AgentSkillId } from "./SkillIds.ts"

export const taskLimits = { most: 1_000, ttlMs: 300_000, mostRunning: 64 }

interface Kept {
  readonly task: Task
  /** Ends its work; null once it is over. */
  stop: (() => void) | null
  readonly listeners: Set<(task: Task) => void>
  readonly permission: ContentPermission | null
}

export interface Tasks {
  /** Begins a task. Null: the limit is reached, because all that could be removed are in progress. */
  readonly begin: (
    facts: {
      readonly id: string
      readonly contextId: string
      readonly identity: string
      readonly skill: AgentSkillId
      readonly form: Form
      /**
       * Permission to keep the task's answer until it is removed; null: it is removed as soon as its caller has got it.
       */
      readonly permission: ContentPermission | null
    },
    nowMs: number
  ) => Task | null
  /** Null: there is none of this id, or it is another caller's. */
  readonly find: (id: string, identity: string, nowMs: number) => Task | null
  /** Says how its work is ended; null once there is none. */
  readonly runs: (task: Task, stop: (() => void) | null) => void
  readonly change: (
    task: Task,
    to: {
      readonly state: TaskState
      readonly answer?: string
      readonly problem?: string
      readonly facts?: TaskFacts
    },
    nowMs: number
  ) => void
  /** Calls back with each change until it is over; gives what ends that. */
  readonly listen: (task: Task, listener: (task: Task) => void) => () => void
  /** False when the task is over already. */
  readonly cancel: (task: Task, nowMs: number) => boolean
  /** Counts the tasks in each state. */
  readonly counts: (nowMs: number) => Readonly<Record<TaskState, number>>
  readonly stopAll: () => void
}

export const makeTasks = (): Tasks => {
  const kept = new FairPool<string, Kept>({
    capacity: taskLimits.most,
    share: shareOf(taskLimits.most),
    ttlMs: taskLimits.ttlMs,
    ownerOf: ({ task }) => task.identity,
    isBusy: ({ task }) => !isOver(task.state),
    onRemove: (_, { stop }) => stop?.()
  })
  const change: Tasks["change"] = (task, { answer, facts, problem, state }, nowMs) => {
    if (isOver(task.state)) return
    task.state = state
    task.sinceMs = nowMs
    if (answer !== undefined) task.answer = answer
    if (problem !== undefined) task.problem = problem
    if (facts !== undefined) task.facts = facts
    const own = kept.peek(task.id, nowMs)
    if (own === undefined) return
    // Each change begins its time anew.
    kept.set(task.id, own, nowMs)
    const hasListeners = own.listeners.size > 0
    for (const listener of own.listeners) listener(task)
    if (hasListeners) notify(own)
  }

  /** Notes that its caller has the end: where nothing may be kept, the task is removed. */
  const notify = (own: Kept): void => {
    if (own.permission !== null || !isOver(own.task.state)) return
    // It is over: there is nothing to stop.
    own.stop = null
    kept.delete(own.task.id)
  }

  const find: Tasks["find"] = (id, identity, nowMs) => {
    const own = kept.get(id, nowMs)
    if (own === undefined || own.task.identity !== identity) return null
    notify(own)
    return own.task
  }

  return {
    begin: ({ contextId, form, id, identity, permission, skill }, nowMs) => {
      kept.deleteExpired(nowMs)
      const task: Task = {
        id,
        contextId,
        identity,
        skill,
        form,
        state: "submitted",
        sinceMs: nowMs,
        answer: null,
        problem: null,
        facts: noFacts
      }
      return kept.set(id, { task, stop: null, listeners: new Set(), permission }, nowMs) ? task : null
    },
    find,
    runs: (task, stop) => {
      const own = kept.peek(task.id, task.sinceMs)
      if (own !== undefined) own.stop = stop
    },
    change,
    listen: (task, listener) => {
      const own = kept.peek(task.id, task.sinceMs)
      own?.listeners.add(listener)
      return () => void own?.listeners.delete(listener)
    },
    cancel: (task, nowMs) => {
      if (isOver(task.state)) return false
      const stop = kept.peek(task.id, nowMs)?.stop ?? null
      change(task, { state: "canceled", problem: "The task was cancelled." }, nowMs)
      stop?.()
      return true
    },
    counts: (nowMs) => {
      kept.deleteExpired(nowMs)
      const counts = { submitted: 0, working: 0, completed: 0, failed: 0, canceled: 0, rejected: 0 }
      for (const [, { task }] of kept) counts[task.state] += 1
      return counts
    },
    stopAll: () => {
      for (const [, { stop }] of kept) stop?.()
    }
  }
}

/** The tasks of the running gateway. */
export class AgentTasks extends Context.Tag("gateway/agents/a2a/AgentTasks")<AgentTasks, Tasks>() {}

export const layer: Layer.Layer<AgentTasks> = Layer.sync(AgentTasks, makeTasks)
