/** Checks a registered MCP server before it is saved, and turns the input into its settings. Pure. */
import * as Redacted from "effect/Redacted"
import type { CreateMcpServer, UpdateMcpServer } from "./routes.ts"
import type { FieldProblem } from "../../contract/domain/Errors.ts"
import type { McpProgram, McpServer, McpServerSettings } from "./entity.ts"
import { isSecretHeader, maskSecret } from "../../kernel/text/Masking.ts"
import { isSameAddress } from "../../plane/providers/Address.ts"

export const defaultTimeoutMs = 30_000

const tellingFlag = /^-{1,2}[\w-]*(?:auth|credential|key|password|secret|token)[\w-]*$/i

/**
 * Writes arguments as they are shown: the one after a flag whose name indicates a secret, and one that looks like a
 * secret, are masked.
 */
export const shownArguments = (args: ReadonlyArray<Redacted.Redacted>): ReadonlyArray<string> => {
  const plain = args.map(Redacted.value)
  return plain.map((text, at) => {
    const sign = text.indexOf("=")
    const flag = sign > 0 ? text.slice(0, sign) : ""
    if (tellingFlag.test(flag)) return `${flag}=${maskSecret(text.slice(sign + 1))}`
    const isAfterFlag = tellingFlag.test(plain[at - 1] ?? "") && !text.startsWith("-")
    const isWord = !text.startsWith("/") && !text.startsWith("-")
    return isAfterFlag || (isWord && isSecretHeader("", text)) ? maskSecret(text) : text
  })
}

/** A new server's settings. */
export const settingsOf = (input: CreateMcpServer): McpServerSettings => ({
  name: input.name,
  url: input.url ?? null,
  headers: input.headers ?? null,
  program:
    input.command === undefined ? null : { command: input.command, args: input.args ?? [], env: input.env ?? {} },
  timeoutMs: input.timeoutMs ?? defaultTimeoutMs,
  isEnabled: input.enabled ?? true,
  allowedTools: input.allowedTools ?? null,
  allowedKeys: input.allowedKeys ?? null
})

const programAfter = (before: McpProgram | null, { args, command, env }: UpdateMcpServer): McpProgram | null => {
  const path = command ?? before?.command
  if (path === undefined) return before
  const kept = before?.args ?? []
  const shown = shownArguments(kept)
  return {
    command: path,
    // A masked argument was read and sent back unchanged.
    args: args?.map((given, at) => (Redacted.value(given) === shown[at] ? (kept[at] ?? given) : given)) ?? kept,
    env: env ?? before?.env ?? {}
  }
}

/** The settings after a change: what is absent stays, and null clears. */
export const changed = <Server extends McpServer>(before: Server, input: UpdateMcpServer): Server => ({
  ...before,
  name: input.name ?? before.name,
  url: input.url ?? before.url,
  headers: input.headers === undefined ? before.headers : input.headers,
  program: programAfter(before.program, input),
  timeoutMs: input.timeoutMs ?? before.timeoutMs,
  isEnabled: input.enabled ?? before.isEnabled,
  allowedTools: input.allowedTools === undefined ? before.allowedTools : input.allowedTools,
  allowedKeys: input.allowedKeys === undefined ? before.allowedKeys : input.allowedKeys
})

/** Checks whether the input names a program that is started on the gateway's machine. */
export const namesProgram = ({ args, command, env }: UpdateMcpServer): boolean =>
  args !== undefined || command !== undefined || env !== undefined

const problem = (field: string, message: string): FieldProblem => ({ field, message })

/** Names that would be taken for the gateway's own tools. */
const reservedName = "gateway"

/**
 * Describes the problem of the input, regardless of the values before; null: none. `isStdio`: the server is a program.
 */
export const inputProblem = (input: UpdateMcpServer, isStdio: boolean): FieldProblem | null => {
  if (input.name === reservedName) return problem("name", `'${reservedName}' is reserved for the gateway's own tools`)
  if (isStdio && input.url !== undefined) return problem("url", "does not go with a program; register another server")
  if (isStdio && input.headers) return problem("headers", "do not go with a program; give it 'env'")
  if (isStdio) return null
  const field = input.command !== undefined ? "command" : input.args !== undefined ? "args" : input.env ? "env" : null
  return field === null ? null : problem(field, "does not go with a URL; register another server")
}

/** Stored headers are not sent to another address. Null: the address stays, or none goes along. */
export const moveProblem = (
  before: McpServer & { readonly locked: boolean },
  after: McpServer
): FieldProblem | null => {
  if (before.url === null || after.url === null || isSameAddress(before.url, after.url)) return null
  const isKept = after.headers === before.headers && (before.headers !== null || before.locked)
  return isKept
    ? problem(
        "headers",
        "are needed again in the same request: url changes, and what is stored must not be sent to another address"
      )
    : null
}
