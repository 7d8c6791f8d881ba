/** Gives the schema of a body that a page fills in, once it is there. */
import type { ComponentChildren } from "preact"
import { useAnswer } from "../../../api/queries.ts"
import { type FieldSchema, loadBodies } from "../../../forms/operations.ts"
import { Answered } from "../../../ui/Answered.tsx"

interface Properties {
  readonly operation: string
  /** A member of the body, where that is what is filled in. */
  readonly member?: string
  readonly height?: number
  readonly children: (schema: FieldSchema) => ComponentChildren
}

export const Body = ({ children, height = 320, member, operation }: Properties) => {
  const bodies = useAnswer({ key: ["bodies"], ask: loadBodies })
  return (
    <Answered of={bodies} height={height}>
      {(all) => {
        const body = all[operation] ?? {}
        return children(member === undefined ? body : (body.properties?.[member] ?? {}))
      }}
    </Answered>
  )
}
