/** Target of a connection that is added: a provider of the registry, a server that is there, or one that is added with it. Pure. */
import type { AnswerOf } from "../../../api/client.ts"
import type { providerNodesList } from "../../../api/calls.generated.ts"
import type { Provider } from "../../../api/manifest.ts"

export type Node = AnswerOf<typeof providerNodesList>["nodes"][number]

export type Target =
  | { readonly _tag: "Known"; readonly provider: Provider }
  | { readonly _tag: "Server"; readonly node: Node }
  | { readonly _tag: "New" }

/** Address of the wizard for a server that is added with its connection. */
export const ownPart = "own"

export const targetOf = (
  part: string,
  providers: ReadonlyArray<Provider>,
  nodes: ReadonlyArray<Node>
): Target | null => {
  if (part === ownPart) return { _tag: "New" }
  const provider = providers.find(({ aliases, id }) => id === part || aliases.includes(part))
  if (provider !== undefined) return { _tag: "Known", provider }
  const node = nodes.find(({ prefix }) => prefix === part)
  return node === undefined ? null : { _tag: "Server", node }
}

export interface Typed {
  readonly apiKey: string
  readonly name: string
  readonly baseUrl: string
  readonly priority: string
  readonly proxyId: string
  /** Of a new server. */
  readonly nodeName: string
  readonly prefix: string
  readonly type: Node["type"]
}

export const nothingTyped: Typed = {
  apiKey: "",
  name: "",
  baseUrl: "",
  priority: "",
  proxyId: "",
  nodeName: "",
  prefix: "",
  type: "openai-compatible"
}

const given = (members: Readonly<Record<string, string>>): Readonly<Record<string, string>> =>
  Object.fromEntries(
    Object.entries(members).flatMap(([name, value]) => (value.trim() === "" ? [] : [[name, value.trim()]]))
  )

/** The connection as it is sent; without its provider where that is a server which is added with it. */
export const connectionOf = (target: Target, typed: Typed) => {
  const { apiKey, baseUrl, name, priority, proxyId } = typed
  const own = given({ apiKey, name, proxyId, ...(target._tag === "New" ? {} : { baseUrl }) })
  const order = /^\d+$/.test(priority.trim()) ? { priority: Number(priority) } : {}
  if (target._tag === "New") return { ...own, ...order }
  return { provider: target._tag === "Known" ? target.provider.id : target.node.prefix, ...own, ...order }
}

export const nodeOf = ({ baseUrl, nodeName, prefix, type }: Typed) => ({
  name: nodeName.trim() === "" ? prefix.trim() : nodeName.trim(),
  prefix: prefix.trim(),
  type,
  baseUrl: baseUrl.trim()
})

/** Id of the provider in model ids. */
export const providerIdOf = (target: Target, { prefix }: Typed): string =>
  target._tag === "Known" ? target.provider.id : target._tag === "Server" ? target.node.prefix : prefix.trim()

export const titleOf = (target: Target, { nodeName, prefix }: Typed): string =>
  target._tag === "Known" ? target.provider.name : target._tag === "Server" ? target.node.name : nodeName || prefix

export type Field = "apiKey" | "baseUrl" | "prefix"

/** Fields that are needed and were not typed. */
export const missingOf = (target: Target, typed: Typed): ReadonlyArray<Field> => {
  const needed: ReadonlyArray<Field> =
    target._tag === "New"
      ? ["prefix", "baseUrl"]
      : target._tag === "Known"
        ? target.provider.needs.filter((need) => need === "apiKey" || need === "baseUrl")
        : []
  return needed.filter((field) => typed[field].trim() === "")
}

/** Checks whether a key begins otherwise than keys of its provider do; a hint that says no beginning decides nothing. */
export const looksOdd = (key: string, hint: string | null): boolean => {
  const start = (hint ?? "").replace(/(?:…|\.\.\.|\*).*$/u, "").trim()
  const typed = key.trim()
  return start !== "" && typed !== "" && !typed.startsWith(start.slice(0, typed.length))
}
