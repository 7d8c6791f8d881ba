/** The refusals that each wire has. */
import type { WireName } from "../../contract/domain/Wire.ts"
import type { Case, CaseRequest } from "./Case.ts"
import { malformed, noModel } from "./checks.ts"

interface Refusals {
  readonly wire: WireName
  /** Page of the provider that says how a refusal looks. */
  readonly source: string
  readonly ask: (model: string) => CaseRequest
  readonly isRefusal: (...statuses: ReadonlyArray<number>) => Case["problems"]
  /** Statuses besides 400 where a body cannot be read; 422 in servers that check it by a schema. */
  readonly unreadable?: ReadonlyArray<number>
  /** Statuses besides 401 and 403 where the key is wrong. */
  readonly wrongKey?: ReadonlyArray<number>
  /** Cases of this wire alone; they stand after the first one. */
  readonly own?: ReadonlyArray<Pick<Case, "id" | "title" | "request" | "problems">>
}

/** Cases of a body that is no JSON, a model that the server has not, and a wrong key. */
export const refusalsOf = ({
  ask,
  isRefusal,
  own = [],
  source,
  unreadable = [],
  wire,
  wrongKey = []
}: Refusals): ReadonlyArray<Omit<Case, "wire">> => {
  const json = {
    id: `${wire}.error.json`,
    title: "refuses a body that is no JSON",
    request: (model: string): CaseRequest => ({ ...ask(model), body: malformed }),
    problems: isRefusal(400, ...unreadable)
  }
  const model = {
    id: `${wire}.error.model`,
    title: "refuses a model that it has not",
    request: () => ask(noModel),
    problems: isRefusal(400, 404)
  }
  const key = {
    id: `${wire}.error.key`,
    title: "refuses a wrong key",
    request: ask,
    credential: "wrong" as const,
    problems: isRefusal(401, 403, ...wrongKey)
  }
  return [json, ...own, model, key].map((each) => Object.assign({ kind: "error" as const, source }, each))
}
