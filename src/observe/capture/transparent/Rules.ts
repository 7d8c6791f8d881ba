/**
 * The commands that lead connections to the listener, and those that undo them. Pure.
 *
 * The first packet of a connection to the port marks the connection, unless it carries the bypass mark; every packet of a marked connection gets
 * the mark itself (to mark first packets alone would send the rest past the listener). Marked packets are routed to this machine, where TPROXY
 * hands them to the listener. Connections that were open before are left alone. The rule that marks connections is the last one in and the first
 * one out, so that no connection is marked while the way to the listener is not complete.
 */
import type { TransparentSettings } from "./Settings.ts"

export type Family = 4 | 6
export type Firewall = "iptables" | "nft"

/** `argv[0]` is a program's name; numbers and words of this file are all there is in it. */
export interface Command {
  readonly argv: ReadonlyArray<string>
  readonly stdin?: string
}

export interface RuleStep {
  readonly apply: Command
  /** Fails where there is nothing to undo. */
  readonly revert: Command
}

/** Preference of the policy rule. Fixed, because a second rule of the same kind would be added without an error. */
export const rulePreference = 23_300
export const nftTable = "gateway_tproxy"

const hex = (mark: number): string => `0x${mark.toString(16)}`
const command = (text: string): Command => ({ argv: text.split(" ") })
const iptables = (family: Family): string => (family === 4 ? "iptables" : "ip6tables")

const routing = (
  { mark, routeTable }: TransparentSettings,
  families: ReadonlyArray<Family>
): ReadonlyArray<RuleStep> => {
  const both = (action: "add" | "del", what: (family: Family) => string) => (family: Family) =>
    command(what(family).replace("ACTION", action))
  const rule = (family: Family): string =>
    `ip -${family} rule ACTION pref ${rulePreference} fwmark ${hex(mark)} lookup ${routeTable}`
  const route = (family: Family): string =>
    `ip -${family} route ACTION local ${family === 4 ? "0.0.0.0/0" : "::/0"} dev lo table ${routeTable}`
  return [rule, route].flatMap((what) =>
    families.map((family) => ({ apply: both("add", what)(family), revert: both("del", what)(family) }))
  )
}

const iptablesSteps = (
  { bypassMark, dport, mark, onPort }: TransparentSettings,
  families: ReadonlyArray<Family>
): ReadonlyArray<RuleStep> => {
  const step = (family: Family, add: "-A" | "-I", chain: string, rest: string): RuleStep => {
    const of = (action: string): Command =>
      command(`${iptables(family)} -w 5 -t mangle ${action} ${chain} -p tcp --dport ${dport} ${rest}`)
    return { apply: of(add), revert: of("-D") }
  }
  return [
    ...families.map((family) =>
      step(family, "-A", "OUTPUT", `-m connmark --mark ${hex(mark)} -j MARK --set-mark ${hex(mark)}`)
    ),
    ...families.map((family) =>
      step(
        family,
        "-A",
        "PREROUTING",
        `-m mark --mark ${hex(mark)} -j TPROXY --on-port ${onPort} --on-ip ${family === 4 ? "127.0.0.1" : "::1"} --tproxy-mark ${hex(mark)}`
      )
    ),
    ...families.map((family) =>
      step(
        family,
        // Made last, but it has to be before the rule that looks at what it does.
        "-I",
        "OUTPUT",
        // Loopback is this machine's own: custom hosts, and the gateway itself.
        `! -d ${family === 4 ? "127.0.0.0/8" : "::1"} --syn -m mark ! --mark ${hex(bypassMark)} -j CONNMARK --set-mark ${hex(mark)}`
      )
    )
  ]
}

/** One table, loaded and removed as a whole. */
const nftSteps = (
  { bypassMark, dport, mark, onPort }: TransparentSettings,
  families: ReadonlyArray<Family>
): ReadonlyArray<RuleStep> => {
  const marking = families.map((family) => {
    const loopback = family === 4 ? "ip daddr != 127.0.0.0/8" : "ip6 daddr != ::1"
    return `    meta nfproto ipv${family} tcp dport ${dport} ${loopback} tcp flags & (fin|syn|rst|ack) == syn meta mark != ${hex(bypassMark)} ct mark set ${hex(mark)}`
  })
  const handing = families.map((family) => {
    const to = family === 4 ? `ip to 127.0.0.1:${onPort}` : `ip6 to [::1]:${onPort}`
    return `    meta nfproto ipv${family} meta mark ${hex(mark)} tcp dport ${dport} tproxy ${to} meta mark set ${hex(mark)} accept`
  })
  const table = [
    `table inet ${nftTable} {`,
    "  chain output {",
    // Of this type, because packets are routed anew once they are marked.
    "    type route hook output priority mangle;",
    ...marking,
    `    tcp dport ${dport} ct mark ${hex(mark)} meta mark set ${hex(mark)}`,
    "  }",
    "  chain prerouting {",
    "    type filter hook prerouting priority mangle;",
    ...handing,
    "  }",
    "}",
    ""
  ]
  return [
    {
      apply: { argv: ["nft", "-f", "-"], stdin: table.join("\n") },
      revert: command(`nft delete table inet ${nftTable}`)
    }
  ]
}

/** Lists the steps in the order of application. */
export const planOf = (
  firewall: Firewall,
  settings: TransparentSettings,
  families: ReadonlyArray<Family>
): ReadonlyArray<RuleStep> => [
  ...routing(settings, families),
  ...(firewall === "iptables" ? iptablesSteps(settings, families) : nftSteps(settings, families))
]

/** Takes everything back, in reverse order. Each of them may fail. */
export const revertOf = (steps: ReadonlyArray<RuleStep>): ReadonlyArray<Command> =>
  steps.map(({ revert }) => revert).toReversed()

/** Lists the queries before anything is changed. A table that was never used is an error of `ip`. */
export const questionsOf = ({ routeTable }: TransparentSettings, family: Family) => ({
  rules: command(`ip -${family} rule show`),
  routes: command(`ip -${family} route show table ${routeTable}`),
  mangle: command(`${iptables(family)} -w 5 -t mangle -S`)
})

/** Commands that find out whether a firewall's program works here. They change nothing. */
export const probeOf: Readonly<Record<Firewall, Command>> = {
  iptables: command("iptables -w 5 -t mangle -S"),
  nft: command("nft list tables")
}

/** Checks whether policy rules or firewall rules of others use a mark, our preference or our table. */
export const isMarkUsed = (rules: string, mark: number): boolean => {
  const used = new RegExp(`(?:fwmark|mark)\\s+(?:0x0*${mark.toString(16)}|${mark})(?:/|\\s|$)`, "iu")
  return rules.split("\n").some((line) => used.test(line) || line.startsWith(`${rulePreference}:`))
}
