/** Checks whether the machine is in the state that capture has recorded, and repairs differences. */
import * as Effect from "effect/Effect"
import { AppConfig } from "../../../platform/AppConfig.ts"
import { HostJournal, type RestoreReport } from "./HostJournal.ts"
import { HostsFile } from "./HostsFile.ts"
import { privilegeOf } from "./Privileges.ts"
import { SystemProxy } from "./SystemProxy.ts"
import { type Slot, TrustStore } from "./TrustStore.ts"
import { isAlive } from "./undo/owner.mjs"

export type CheckId =
  | "journal"
  | "hosts-file"
  | "custom-hosts"
  | "system-proxy"
  | "trust-store"
  | "privileges"
  | "certificate"

export interface Check {
  readonly id: CheckId
  readonly ok: boolean
  readonly detail: string
  /** Advice on what to do about it; null when there is nothing to do. */
  readonly hint: string | null
}

export interface Expected {
  /** Custom hosts that are turned on. */
  readonly hosts: ReadonlyArray<string>
  /** The authority that is to be trusted; null where there is none. */
  readonly authority: { readonly slot: Slot; readonly pem: string } | null
}

const check = (id: CheckId, problem: string | null, fine: string, hint: string | null): Check =>
  problem === null ? { id, ok: true, detail: fine, hint: null } : { id, ok: false, detail: problem, hint }

/** Entries of the journal whose gateway has ended. */
const leftovers = Effect.gen(function* () {
  const journal = yield* HostJournal
  const entries = yield* journal.entries
  return entries.filter(({ owner }) => !isAlive(owner))
})

export const diagnose = Effect.fn("Diagnose.diagnose")(function* ({ authority, hosts }: Expected) {
  const { environment } = yield* AppConfig
  const file = yield* HostsFile
  const trust = yield* TrustStore
  const proxy = yield* SystemProxy
  const left = yield* leftovers
  const broken = yield* file.problem
  const names = yield* file.names
  const missing = hosts.filter((host) => !names.has(host))
  const privilege = yield* privilegeOf(environment, false)
  const { platform, supported } = yield* proxy.state
  const trusted =
    authority === null
      ? null
      : yield* trust.isTrusted(authority.slot, authority.pem).pipe(Effect.orElseSucceed(() => false))
  const certificate =
    trusted === null
      ? []
      : [
          check(
            "certificate",
            trusted ? null : "The certificate of the gateway is not trusted by this system.",
            "The certificate of the gateway is trusted by this system.",
            "Run 'gateway capture cert trust'."
          )
        ]
  return [
    check(
      "journal",
      left.length === 0 ? null : `A gateway that has ended left: ${left.map(({ what }) => what).join("; ")}.`,
      "Nothing is left of gateways that have ended.",
      "Run 'gateway capture restore'."
    ),
    check(
      "hosts-file",
      broken === null ? null : `The hosts file ${file.path} ${broken}.`,
      `The hosts file ${file.path} is in order.`,
      "A repair takes the lines of the gateway out."
    ),
    check(
      "custom-hosts",
      missing.length === 0 ? null : `Not in the hosts file: ${missing.join(", ")}.`,
      "All custom hosts that are turned on are in the hosts file.",
      "A repair writes them again; it needs the right to write the hosts file."
    ),
    check(
      "system-proxy",
      supported ? null : "The gateway knows no way to set a proxy on this desktop.",
      `The proxy can be set by way of ${platform ?? "the desktop"}.`,
      "Set HTTP_PROXY and HTTPS_PROXY in a terminal, or use 'gateway capture run'."
    ),
    check(
      "trust-store",
      trust.supported ? null : "The gateway knows no way to the trust store of this system.",
      "The trust store of this system is known.",
      "Trust the certificate by hand: 'gateway capture cert show'."
    ),
    check(
      "privileges",
      privilege === "none" ? "The gateway may not change the hosts file and the trust store." : null,
      "The gateway may change the hosts file and the trust store.",
      "Start it as root, or give a password for sudo where it is asked for."
    ),
    ...certificate
  ] satisfies ReadonlyArray<Check>
})

export interface Repaired {
  /** Checks that failed and do not any more. */
  readonly repaired: ReadonlyArray<CheckId>
  readonly report: RestoreReport
}

/**
 * Undoes the changes that ended gateways left, repairs the hosts file and writes the custom hosts again. A certificate
 * is trusted only by a person.
 */
export const repair = Effect.fn("Diagnose.repair")(function* (expected: Expected) {
  const journal = yield* HostJournal
  const file = yield* HostsFile
  const before = yield* diagnose(expected)
  const isBad = (id: CheckId): boolean => before.some((found) => found.id === id && !found.ok)
  const report = yield* journal.restore("ended")
  if (isBad("hosts-file")) yield* file.repair
  if (isBad("custom-hosts") || isBad("hosts-file")) yield* file.set(expected.hosts)
  const after = yield* diagnose(expected)
  const repaired = after.filter(({ id, ok }) => ok && isBad(id)).map(({ id }) => id)
  return { repaired, report } satisfies Repaired
})
