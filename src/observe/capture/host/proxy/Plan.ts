/** Plan of the settings by which a desktop's programs use a proxy, and of their restoration: pure, as commands. */
import type { StillOurs, UndoStep } from "../undo/steps.mjs"

export type Argv = ReadonlyArray<string>

export type Desktop = "gnome" | "kde" | "macos" | "windows"

/** One value of the system's settings. */
export interface Setting {
  /** Name for people and the journal. */
  readonly name: string
  /** Prints the value. */
  readonly read: Argv
  /** Lines that `read` prints when the value is ours; others may be there as well. */
  readonly ours: ReadonlyArray<string>
  /** The beginning of a line that is not there when the value is ours. */
  readonly oursWithout?: string
  /** Makes it ours, given what `read` printed before. */
  readonly set: (before: string) => ReadonlyArray<Argv>
  /** Restores the value that `read` printed before, with guards: one that is no longer ours is kept. */
  readonly undo: (before: string) => ReadonlyArray<UndoStep>
  /** Output of `read` where no proxy is set: taken for the previous value when it was ours already, left by a gateway whose journal is lost. */
  readonly neutral: string
}

export interface ProxyPlan {
  readonly desktop: Desktop
  /**
   * Settings in the order in which they are set; the one that turns the proxy on is last. They are restored in reverse.
   */
  readonly settings: ReadonlyArray<Setting>
  /** Makes programs notice, after setting and after giving back. May fail. */
  readonly refresh: ReadonlyArray<Argv>
  /** Sets a setting to what it is, where that shows whether the desktop can keep any; absent: it does not. */
  readonly rehearsal?: (before: ReadonlyMap<string, string>) => Argv
}

export const proxyHost = "127.0.0.1"

/** Hosts that are never sent to the proxy: it would lose the gateway itself, and every local service. */
export const neverProxied = ["localhost", "127.0.0.0/8", "::1"]

/** Writes the lines for a terminal, whose programs ignore the desktop's settings. */
export const terminalLines = (port: number): ReadonlyArray<string> => [
  `export HTTP_PROXY=http://${proxyHost}:${port} http_proxy=http://${proxyHost}:${port}`,
  `export HTTPS_PROXY=http://${proxyHost}:${port} https_proxy=http://${proxyHost}:${port}`,
  "export NO_PROXY=localhost,127.0.0.1,::1 no_proxy=localhost,127.0.0.1,::1"
]

export const stillOurs = ({ ours, oursWithout, read }: Setting): StillOurs => ({
  argv: read,
  lines: ours,
  ...(oursWithout === undefined ? {} : { without: oursWithout })
})

export const run = (argv: Argv, onlyIf: ReadonlyArray<Setting> | null = null): UndoStep => ({
  do: "run",
  argv,
  ...(onlyIf === null ? {} : { onlyIf: onlyIf.map(stillOurs) })
})

/**
 * Lists the steps that restore all settings: the switch first, so that no program is sent to a proxy that is half set.
 */
export const undoSteps = (
  { refresh, settings }: ProxyPlan,
  before: ReadonlyMap<string, string>
): ReadonlyArray<UndoStep> => [
  ...settings.toReversed().flatMap((setting) => setting.undo(before.get(setting.name) ?? setting.neutral)),
  ...refresh.map((argv): UndoStep => ({ do: "run", argv, mayFail: true }))
]
