/** Chooses the coding tools that pages show: those that take the address of a gateway, wholly or in part. */
interface Shown {
  readonly id: string
  readonly name: string
  readonly vendor: string
  readonly baseUrlSupport: "full" | "partial" | "none"
}

export const shownTools = <A extends Shown>(tools: ReadonlyArray<A>, text: string): ReadonlyArray<A> =>
  tools.filter(
    ({ baseUrlSupport, id, name, vendor }) =>
      baseUrlSupport !== "none" && `${id} ${name} ${vendor}`.toLowerCase().includes(text.toLowerCase())
  )
