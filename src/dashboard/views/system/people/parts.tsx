/** Parts of the areas of people and teams. */
import type { ComponentChildren } from "preact"
import type { AnswerOf } from "../../../api/client.ts"
import { teamsList, usersList } from "../../../api/calls.generated.ts"
import { useAnswer } from "../../../api/queries.ts"
import type { FieldSchema } from "../../../forms/operations.ts"
import { ValuesForm } from "../../../forms/ValuesForm.tsx"
import { Dialog } from "../../../ui/dialogs/Dialog.tsx"
import { Body } from "../parts/Body.tsx"

export type User = AnswerOf<typeof usersList>["users"][number]
export type Team = AnswerOf<typeof teamsList>["teams"][number]

/** All people: they are searched here, and named by their ids. */
export const useUsers = () => useAnswer({ key: ["users", "all"], ask: (signal) => usersList({ signal }) })

export const useTeams = () => useAnswer({ key: ["teams", "all"], ask: (signal) => teamsList({ signal }) })

const mostRows = 200

interface Found<A> {
  readonly shown: ReadonlyArray<A>
  /** Entries that fit and are not shown. */
  readonly more: number
}

/** The entries of a list with a text, as many as a page shows. */
export const foundIn = <A,>(all: ReadonlyArray<A>, typed: string, textOf: (entry: A) => string): Found<A> => {
  const wanted = typed.trim().toLowerCase()
  const fitting = wanted === "" ? all : all.filter((entry) => textOf(entry).toLowerCase().includes(wanted))
  return { shown: fitting.slice(0, mostRows), more: Math.max(0, fitting.length - mostRows) }
}

/** Members that a change replaces as a whole. */
export const whole: ReadonlySet<string> = new Set(["budget", "limits"])

/** The schema without members that have a place of their own. */
export const without = (schema: FieldSchema, names: ReadonlyArray<string>): FieldSchema => ({
  ...schema,
  properties: Object.fromEntries(Object.entries(schema.properties ?? {}).filter(([name]) => !names.includes(name)))
})

/** Operations that add an entry. */
export type Creation = "usersCreate" | "teamsCreate"

interface Properties {
  readonly title: string
  readonly operation: Creation
  readonly isOpen: boolean
  readonly onClose: () => void
  readonly create: (body: object) => Promise<unknown>
}

const nothing = {}
const named = ["members", "parent"]

/** Adds a person or a team. Members of a team and its parent are set on the page of the team. */
export const Create = ({ create, isOpen, onClose, operation, title }: Properties) => (
  <Dialog title={title} isOpen={isOpen} onClose={onClose}>
    <Body operation={operation}>
      {(schema) => (
        <ValuesForm
          schema={without(schema, named)}
          values={nothing}
          verb={title}
          canUndo={false}
          save={create}
          onCancel={onClose}
        />
      )}
    </Body>
  </Dialog>
)

/** A part of the page of a person or a team. */
export const Part = ({ children, title }: { readonly title: string; readonly children: ComponentChildren }) => (
  <section class="card stack" aria-label={title}>
    <h3>{title}</h3>
    {children}
  </section>
)
