/** The tasks of the A2A agent while they run: each in a fiber of its own, within places, until it is over. */
import * as Effect from "effect/Effect"
import * as Runtime from "effect/Runtime"
import * as Cause from "effect/Cause"
import * as Fiber from "effect/Fiber"
import { type Task, isOver } from "./Task.ts"
import type { AgentRequest } from "./AgentRequest.ts"
import { type Caller, identityOf } from "../mcp/Caller.ts"
import type { makeAgent, Outcome } from "./Agent.ts"
import { IdGen } from "../../platform/IdGen.ts"
import { AgentTasks, taskLimits } from "./Tasks.ts"
import { Timers } from "../../platform/Timers.ts"
import { makeFairPlaces } from "../../kernel/collections/FairPlaces.ts"
import { mayKeepContent } from "../../contract/domain/ContentPermission.ts"

export interface BegunTask {
  readonly task: Task
  readonly stop: () => void
}

export interface RunningTasks {
  /** Begins the work of a message. Null: the caller has its share of those in progress, or the limit is reached. */
  readonly begin: (asked: AgentRequest, caller: Caller, origin: string) => BegunTask | null
  /** Waits until a task is over. */
  readonly over: (task: Task) => Effect.Effect<void>
}

export const makeRunningTasks = (agent: ReturnType<typeof makeAgent>) =>
  Effect.gen(function* () {
    const ids = yield* IdGen
    const tasks = yield* AgentTasks
    const timers = yield* Timers
    const runFork = Runtime.runFork(yield* Effect.runtime<never>())
    const places = makeFairPlaces(() => taskLimits.mostRunning)

    const ended = (task: Task, outcome: Outcome): void => {
      const nowMs = timers.nowMs()
      switch (outcome._tag) {
        case "Answered":
          return tasks.change(task, { state: "completed", answer: outcome.answer, facts: outcome.facts }, nowMs)
        case "Failed":
          return tasks.change(task, { state: "failed", problem: outcome.problem, facts: outcome.facts }, nowMs)
        case "Refused":
          return tasks.change(task, { state: "rejected", problem: outcome.problem, facts: outcome.facts }, nowMs)
      }
    }

    /** Takes a task and a place for a caller. */
    const taken = (
      { contextId, form, skill }: AgentRequest,
      caller: Caller
    ): { task: Task; leave: () => void } | null => {
      const nowMs = timers.nowMs()
      const identity = identityOf(caller)
      const leave = places.enter(identity)
      if (leave === null) return null
      const id = ids.next(nowMs)
      const permission = mayKeepContent(caller.principal)
      const task = tasks.begin(
        { id, contextId: contextId ?? ids.next(nowMs), identity, skill, form, permission },
        nowMs
      )
      if (task !== null) return { task, leave }
      leave()
      return null
    }

    const begin: RunningTasks["begin"] = (asked, caller, origin) => {
      const begun = taken(asked, caller)
      if (begun === null) return null
      const { leave, task } = begun
      const fiber = runFork(
        Effect.suspend(() => {
          tasks.change(task, { state: "working" }, timers.nowMs())
          return Effect.map(agent(asked, caller, origin), (outcome) => ended(task, outcome))
        }).pipe(
          Effect.catchAllCause((cause) => {
            if (Cause.isInterruptedOnly(cause)) {
              tasks.cancel(task, timers.nowMs())
              return Effect.void
            }
            tasks.change(task, { state: "failed", problem: "The gateway failed; its log says why." }, timers.nowMs())
            return Effect.logError(`A task of the A2A agent failed (${task.id})`, cause)
          }),
          Effect.ensuring(
            Effect.sync(() => {
              leave()
              tasks.runs(task, null)
            })
          )
        )
      )
      const stop = (): void => void runFork(Fiber.interrupt(fiber))
      if (!isOver(task.state)) tasks.runs(task, stop)
      return { task, stop }
    }

    const over: RunningTasks["over"] = (task) =>
      Effect.async<void>((resume) => {
        if (isOver(task.state)) return resume(Effect.void)
        const forget = tasks.listen(task, ({ state }) => {
          if (!isOver(state)) return
          forget()
          resume(Effect.void)
        })
        return Effect.sync(forget)
      })

    const running: RunningTasks = { begin, over }
    return running
  })
