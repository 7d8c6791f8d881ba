/** The operations of the management API, as the build has reflected them: an index, and a file for each, loaded when its form opens. */
import { ApiError } from "../api/ApiError.ts"

/** Name of the index; the build puts it in. */
declare const OPERATIONS_FILE: string
/** Name of the file with the bodies that pages of their own fill in. */
declare const BODIES_FILE: string

/** A JSON Schema, as far as forms read it. */
export interface FieldSchema {
  readonly type?: string | ReadonlyArray<string>
  readonly title?: string
  readonly description?: string
  readonly enum?: ReadonlyArray<unknown>
  readonly const?: unknown
  readonly default?: unknown
  readonly examples?: ReadonlyArray<unknown>
  readonly format?: string
  readonly writeOnly?: boolean
  /** Shown elsewhere, and no field of a form. */
  readonly readOnly?: boolean
  readonly minimum?: number
  readonly maximum?: number
  readonly maxLength?: number
  readonly items?: FieldSchema
  readonly additionalProperties?: boolean | FieldSchema
  readonly properties?: Readonly<Record<string, FieldSchema>>
  readonly required?: ReadonlyArray<string>
  readonly anyOf?: ReadonlyArray<FieldSchema>
}

export interface OperationSummary {
  readonly id: string
  readonly method: string
  /** Path, with `{name}` for a member of the path. */
  readonly path: string
  readonly tag: string
  readonly summary: string
  readonly file: string
  readonly hasBody: boolean
}

export interface Parameter {
  readonly name: string
  readonly in: "path" | "query"
  readonly isRequired: boolean
  readonly description: string
  readonly schema: FieldSchema
}

export interface Operation extends Omit<OperationSummary, "file" | "hasBody"> {
  readonly description: string
  readonly parameters: ReadonlyArray<Parameter>
  /** Null: it takes none. */
  readonly body: FieldSchema | null
  readonly example: unknown
  readonly isBodyRequired: boolean
  /** Names of the query by which GET shows at the same path what this changes; null: it changes nothing that is shown there. */
  readonly shownBy: ReadonlyArray<string> | null
}

const load = async <A>(file: string, signal: AbortSignal): Promise<A> => {
  const response = await fetch(new URL(file, import.meta.url), { signal })
  if (!response.ok) throw new ApiError("The form cannot be loaded.", { status: response.status, code: "no_form" })
  return (await response.json()) as A
}

export const loadOperations = (signal: AbortSignal): Promise<ReadonlyArray<OperationSummary>> =>
  load(OPERATIONS_FILE, signal)

export const loadOperation = (file: string, signal: AbortSignal): Promise<Operation> => load(file, signal)

/** Bodies of the operations that pages of their own fill in, by the operation. */
export type Bodies = Readonly<Record<string, FieldSchema>>

export const loadBodies = (signal: AbortSignal): Promise<Bodies> => load(BODIES_FILE, signal)
