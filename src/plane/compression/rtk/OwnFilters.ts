/** Filters of operators: what of a file can be used, and what is wrong with the rest. Pure. */
import * as Either from "effect/Either"
import * as ParseResult from "effect/ParseResult"
import * as Predicate from "effect/Predicate"
import * as Schema from "effect/Schema"
import { compile, type Compiled } from "./Compiled.ts"
import { Filter } from "./Filter.ts"
import { foreign } from "./Pattern.ts"

export interface OwnFilterFault {
  /** Id of the filter, or its place in the file; null: of the file as a whole. */
  readonly filter: string | null
  readonly message: string
}

export interface OwnFilters {
  readonly filters: ReadonlyArray<Compiled>
  readonly faults: ReadonlyArray<OwnFilterFault>
}

/** Most characters of a file, and filters in it. */
export const mostFileChars = 1_048_576
const mostFilters = 200
const mostReasonChars = 400
/** Steps that all patterns together may cost which choose a filter: they are tried on each output. */
const mostChoosingSteps = 4_000

const none = (message: string): OwnFilters => ({ filters: [], faults: [{ filter: null, message }] })

const decode = Schema.decodeUnknownEither(Filter, { onExcessProperty: "error" })

const readOne = (value: unknown, index: number): Compiled | OwnFilterFault => {
  const id = Predicate.hasProperty(value, "id") && typeof value.id === "string" ? value.id.slice(0, 64) : null
  const filter = id ?? `filters[${index}]`
  const decoded = decode(value)
  if (Either.isLeft(decoded)) {
    const [issue] = ParseResult.ArrayFormatter.formatErrorSync(decoded.left)
    if (issue === undefined || issue.path.length === 0)
      return { filter, message: "must be an object with id, match and rules" }
    return { filter, message: `${issue.path.map(String).join(".")}: ${issue.message}`.slice(0, mostReasonChars) }
  }
  const compiled = compile(decoded.right, foreign)
  return "field" in compiled ? { filter, message: `${compiled.field} ${compiled.message}` } : compiled
}

/** `{"filters": […]}`, or the array alone. A filter that is not valid is left out; the others hold. */
export const readFilters = (text: string): OwnFilters => {
  if (text.length > mostFileChars) return none(`has more than ${mostFileChars} characters`)
  let value: unknown
  try {
    value = JSON.parse(text)
  } catch {
    return none("is no JSON")
  }
  const list = Predicate.hasProperty(value, "filters") ? value.filters : value
  if (!Array.isArray(list)) return none("must be an array of filters, or an object with one as 'filters'")
  if (list.length > mostFilters) return none(`has more than ${mostFilters} filters`)
  const filters = new Map<string, Compiled>()
  const faults: Array<OwnFilterFault> = []
  let choosing = 0
  for (const [index, each] of list.entries()) {
    const read = readOne(each, index)
    if ("message" in read) faults.push(read)
    else if (filters.has(read.filter.id))
      faults.push({ filter: read.filter.id, message: "is there twice; the first counts" })
    else {
      choosing += [...read.commands, ...read.shapes].reduce((sum, { steps }) => sum + steps, 0)
      if (choosing <= mostChoosingSteps) filters.set(read.filter.id, read)
      else
        faults.push({
          filter: read.filter.id,
          message: `has patterns to choose it by that cost too much with those before it`
        })
    }
  }
  return { filters: [...filters.values()], faults }
}
