/**
 * The rules while they are in force. They are in the journal of host changes before the first of them is made, and undone in reverse order when
 * one fails, when the scope closes, and by the watchdog when the gateway is killed.
 */
import * as Data from "effect/Data"
import * as Effect from "effect/Effect"
import type * as Scope from "effect/Scope"
import { findProgram } from "../host/HostPrograms.ts"
import type { HostJournal, JournalFailed, OpenChange, UndoStep } from "../host/HostJournal.ts"
import {
  type Command,
  type Family,
  type Firewall,
  isMarkUsed,
  planOf,
  probeOf,
  questionsOf,
  revertOf
} from "./Rules.ts"
import type { TransparentSettings } from "./Settings.ts"

/** The routing table holds routes of others. */
export class TableInUse extends Data.TaggedError("TransparentTableInUse")<{ readonly routeTable: number }> {}

/** Another program's rules use the mark, or the place of our policy rule. */
export class MarkInUse extends Data.TaggedError("TransparentMarkInUse")<{ readonly mark: number }> {}

/** Error of a machine without a program that sets firewall rules. */
export class NoFirewall extends Data.TaggedError("TransparentNoFirewall") {}

/**
 * Error of a failed command, after which all was undone. `step` counts from 1. `problem` is what the program said, in a
 * line.
 */
export class RulesFailed extends Data.TaggedError("TransparentRulesFailed")<{
  readonly step: number
  readonly command: string
  readonly problem: string
}> {}

export type RulesProblem = TableInUse | MarkInUse | NoFirewall | RulesFailed | JournalFailed

export interface RulesOptions {
  readonly journal: typeof HostJournal.Service
  readonly environment: ReadonlyMap<string, string>
  readonly settings: TransparentSettings
  readonly families: ReadonlyArray<Family>
}

const commandTimeoutMs = 10_000

export const applyRules = ({
  environment,
  families,
  journal,
  settings
}: RulesOptions): Effect.Effect<Firewall, RulesProblem, Scope.Scope> => {
  /** Finds the program's path; null where it is missing. */
  const located = ({ argv: [name = "", ...rest] }: Command): ReadonlyArray<string> | null => {
    const program = findProgram(environment, name)
    return program === null ? null : [program, ...rest]
  }

  const run = (command: Command) => {
    const argv = located(command)
    return argv === null
      ? Effect.succeed({ ok: false as const, problem: `${command.argv[0]} is not there`, stdout: "" })
      : journal.run({
          argv,
          timeoutMs: commandTimeoutMs,
          ...(command.stdin === undefined ? {} : { stdin: command.stdin })
        })
  }

  /** Nothing where it fails: a table that does not exist, a chain that was not made. */
  const answer = (command: Command): Effect.Effect<string> =>
    run(command).pipe(Effect.map((ran) => (ran.ok ? ran.stdout : "")))

  const choose = Effect.gen(function* () {
    for (const firewall of ["iptables", "nft"] as const) if ((yield* run(probeOf[firewall])).ok) return firewall
    return yield* new NoFirewall()
  })

  const check = (firewall: Firewall) =>
    Effect.gen(function* () {
      for (const family of families) {
        const { mangle, routes, rules } = questionsOf(settings, family)
        if ((yield* answer(routes)).trim() !== "") return yield* new TableInUse({ routeTable: settings.routeTable })
        const used = `${yield* answer(rules)}\n${firewall === "iptables" ? yield* answer(mangle) : ""}`
        if (isMarkUsed(used, settings.mark)) return yield* new MarkInUse({ mark: settings.mark })
      }
    })

  const undoSteps = (commands: ReadonlyArray<Command>): ReadonlyArray<UndoStep> =>
    commands.flatMap((command) => {
      const argv = located(command)
      // It fails where there is nothing to undo.
      return argv === null ? [] : [{ do: "run", argv, mayFail: true, timeoutMs: commandTimeoutMs }]
    })

  const change = { kind: "firewall", what: "Firewall and routing rules of transparent capture" } as const

  const apply = (open: OpenChange) =>
    Effect.gen(function* () {
      const firewall = yield* choose
      yield* check(firewall)
      const plan = planOf(firewall, settings, families)
      yield* open.update({ ...change, steps: undoSteps(revertOf(plan)), facts: { ...settings, firewall, families } })
      for (const [at, step] of plan.entries()) {
        const ran = yield* run(step.apply)
        if (ran.ok) continue
        return yield* new RulesFailed({ step: at + 1, command: step.apply.argv.join(" "), problem: ran.problem })
      }
      return firewall
    })

  // Interrupted in the middle, the rules made so far would be in force until the scope closes.
  return Effect.uninterruptible(journal.change({ ...change, steps: [] }, apply))
}
