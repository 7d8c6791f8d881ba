/** Reads members of JSON one by one and collects what is wrong with each, at most 50. */
import type { FieldProblem } from "../../../contract/domain/Errors.ts"

export const maxProblems = 50

const isRecord = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value)

interface NumberRule {
  readonly min: number
  readonly max: number
  readonly whole: boolean
}

export class Fields {
  readonly #values: Readonly<Record<string, unknown>>
  readonly #path: string
  readonly #problems: Array<FieldProblem>

  private constructor(values: Readonly<Record<string, unknown>>, path: string, problems: Array<FieldProblem>) {
    this.#values = values
    this.#path = path
    this.#problems = problems
  }

  /** Null: no object. */
  static of(value: unknown, path: string): Fields | null {
    return isRecord(value) ? new Fields(value, path, []) : null
  }

  found(): ReadonlyArray<FieldProblem> {
    return this.#problems
  }

  problem(name: string, message: string): void {
    if (this.#problems.length >= maxProblems) return
    const field = (this.#path === "" ? name : `${this.#path}.${name}`).slice(0, 200)
    this.#problems.push({ field, message })
  }

  names(): ReadonlyArray<string> {
    return Object.keys(this.#values)
  }

  /** Undefined and null: not given. */
  value(name: string): unknown {
    return Object.hasOwn(this.#values, name) ? (this.#values[name] ?? undefined) : undefined
  }

  only(names: ReadonlyArray<string>): void {
    for (const name of this.names()) {
      if (!names.includes(name)) this.problem(name.slice(0, 60), `is not known here; known are ${names.join(", ")}`)
    }
  }

  object(name: string, message: string): Fields | null {
    const value = this.value(name)
    if (value === undefined) return null
    if (isRecord(value)) return new Fields(value, this.#within(name), this.#problems)
    this.problem(name, message)
    return null
  }

  empty(name: string): Fields {
    return new Fields({}, this.#within(name), this.#problems)
  }

  boolean(name: string, otherwise: boolean): boolean {
    const value = this.value(name)
    if (value === undefined) return otherwise
    if (typeof value === "boolean") return value
    this.problem(name, "must be true or false")
    return otherwise
  }

  /** Reads a text that is not empty. Null: not given, or wrong. */
  text(name: string, maxChars: number): string | null {
    const value = this.value(name)
    if (value === undefined) return null
    if (typeof value !== "string") this.problem(name, "must be a string")
    else if (value.trim() === "") this.problem(name, "must not be empty")
    else if (value.length > maxChars) this.problem(name, `must have at most ${maxChars} characters`)
    else if (/\p{Cc}/u.test(value)) this.problem(name, "must not hold control characters")
    else return value
    return null
  }

  /** Null: not given, or wrong. */
  number(name: string, { max, min, whole }: NumberRule): number | null {
    const value = this.value(name)
    if (value === undefined) return null
    const isRight =
      typeof value === "number" &&
      Number.isFinite(value) &&
      value >= min &&
      value <= max &&
      (!whole || Number.isInteger(value))
    if (isRight) return value
    this.problem(name, `must be a ${whole ? "whole " : ""}number from ${min} to ${max}`)
    return null
  }

  oneOf(name: string, words: ReadonlyArray<string>): string | null {
    const value = this.value(name)
    if (value === undefined) return null
    if (typeof value === "string" && words.includes(value)) return value
    this.problem(name, `must be one of ${words.join(", ")}`)
    return null
  }

  list(name: string, most: number): ReadonlyArray<unknown> {
    const value = this.value(name)
    if (value === undefined) return []
    if (Array.isArray(value) && value.length <= most) return value
    this.problem(name, `must be a list of at most ${most}`)
    return []
  }

  #within(name: string): string {
    return this.#path === "" ? name : `${this.#path}.${name}`
  }
}
