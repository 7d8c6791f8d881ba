/** The manual page `gateway(1)`, in the macros of man(7), from the tree of commands. */
import { withOutputFlags } from "../output/Format.ts"
import type { FlagShape, Shape } from "../tree/Shape.ts"
import { type GroupNode, sections, type TreeNode } from "../tree/Tree.ts"
import { usageOf } from "../tree/Arguments.ts"

/** Text as roff takes it: a backslash and a dash are escaped, and no line of text begins with a control character. */
const roff = (text: string): string =>
  text
    .replaceAll("\\", "\\e")
    .replaceAll("-", "\\-")
    .replaceAll("…", "\\[u2026]")
    .replaceAll("–", "\\[en]")
    .replaceAll("×", "\\[mu]")
    .replaceAll(
      /[^\n -~]/gu,
      (character) => `\\[u${(character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, "0")}]`
    )
    .replace(/^(?=[.'])/, "\\&")

/** An argument of a macro. */
const quoted = (text: string): string => `"${roff(text).replaceAll('"', "\\(dq")}"`

const flagNames = ({ aliases, name, value }: FlagShape): string =>
  [...aliases, name].map((each) => (value === null ? each : `${each} <${value}>`)).join(", ")

const flagLines = ({ choices, description, name }: FlagShape, names: string): ReadonlyArray<string> => {
  const text = [description, choices.length === 0 ? "" : `One of: ${choices.join(", ")}.`].join(" ").trim()
  return [".TP", `.B ${roff(names)}`, roff(text === "" ? `See '${name}'.` : text)]
}

/** Flags that most commands have, which the page describes once. */
const common: ReadonlySet<string> = new Set(["--json", "--output", "--url", "--gateway-key", "--context", "--local"])

const commandLines = (node: TreeNode, path: ReadonlyArray<string>, shape: Shape): ReadonlyArray<string> => [
  `.SS ${quoted(`gateway ${path.join(" ")}`)}`,
  roff(node.summary),
  ".PP",
  roff(`Usage: ${usageOf(shape, path.join(" "))}`),
  ...(node.aliases.length === 0 ? [] : [".PP", roff(`Also: ${node.aliases.join(", ")}`)]),
  ...shape.args
    .filter(({ description }) => description !== "")
    .flatMap((each) => [".TP", `.I ${roff(`<${each.name}>`)}`, roff(each.description)]),
  ...shape.flags.filter(({ name }) => !common.has(name)).flatMap((flag) => flagLines(flag, flagNames(flag))),
  ...node.examples.flatMap((example) => [".PP", ".RS 4", ".nf", roff(`gateway ${example}`), ".fi", ".RE"])
]

const within = async (
  nodes: ReadonlyArray<TreeNode>,
  path: ReadonlyArray<string>,
  seen: Map<string, FlagShape>
): Promise<ReadonlyArray<string>> => {
  const lines: Array<string> = []
  for (const node of nodes) {
    const whole = [...path, node.name]
    if (node.kind === "group") {
      lines.push(...(await within(node.commands, whole, seen)))
      continue
    }
    // For the scripts of completion only.
    if (node.name === "complete") continue
    const { shape } = await node.load()
    const all = node.prints === false ? shape : withOutputFlags(shape)
    for (const flag of all.flags) if (common.has(flag.name) && !seen.has(flag.name)) seen.set(flag.name, flag)
    lines.push(...commandLines(node, whole, all))
  }
  return lines
}

const variables: ReadonlyArray<readonly [name: string, meaning: string]> = [
  ["DATA_DIR", "The data folder; default: ~/.gateway."],
  ["HOST, PORT", "Where the gateway listens; default: 127.0.0.1 and 20128."],
  ["GATEWAY_URL", "The gateway that commands go to."],
  ["GATEWAY_API_KEY", "The key that commands show it."],
  ["GATEWAY_ADMIN_KEY", "An admin key that is never stored."],
  ["NO_COLOR", "Turns colours off."]
]

const files: ReadonlyArray<readonly [name: string, meaning: string]> = [
  ["~/.gateway/gateway.sqlite", "Connections, keys, combos, settings, usage."],
  ["~/.gateway/master.key", "Encrypts stored credentials."],
  ["~/.gateway/.env", "Variables that 'gateway env set' keeps."],
  ["~/.gateway/backups/", "Copies of the database."],
  ["~/.config/gateway/", "Logins at gateways elsewhere, and which coding tools were set up."]
]

const codes: ReadonlyArray<readonly [code: string, meaning: string]> = [
  ["0", "Done."],
  ["1", "It failed, or a check found something."],
  ["2", "The command line is wrong."],
  ["3", "No gateway answers."],
  ["4", "The key is missing or may not do this."],
  ["5", "A limit is reached."],
  ["124", "No answer came in time."],
  ["130", "Interrupted."]
]

const table = (rows: ReadonlyArray<readonly [string, string]>): ReadonlyArray<string> =>
  rows.flatMap(([name, meaning]) => [".TP", `.B ${roff(name)}`, roff(meaning)])

/** The whole page, ending in a line end. */
export const manualPage = async (root: GroupNode, version: string): Promise<string> => {
  const seen = new Map<string, FlagShape>()
  const parts: Array<string> = []
  for (const section of sections) {
    const nodes = root.commands.filter((node) => (node.section ?? "More") === section)
    const lines = await within(nodes, [], seen)
    if (lines.length > 0) parts.push(`.SH ${quoted(`COMMANDS: ${section.toUpperCase()}`)}`, ...lines)
  }
  return [
    `.TH GATEWAY 1 "" ${quoted(`gateway ${version}`)} "User Commands"`,
    ".SH NAME",
    "gateway \\- self\\-hosted gateway between AI clients and AI providers",
    ".SH SYNOPSIS",
    ".B gateway",
    roff("[command] [arguments] [flags]"),
    ".SH DESCRIPTION",
    roff(root.summary),
    roff("'gateway' alone starts the gateway. Objects are meant by name, by id or by the beginning of the id."),
    ".SH COMMON FLAGS",
    roff("Most commands have these."),
    ...[...seen.values()].flatMap((flag) => flagLines(flag, flagNames(flag))),
    ...parts,
    ".SH ENVIRONMENT",
    ...table(variables),
    ".SH FILES",
    ...table(files),
    ".SH EXIT STATUS",
    ...table(codes),
    ""
  ].join("\n")
}
