/** Loads a list that is answered in pages: as many of them as the address says. */

export interface Page<A> {
  readonly items: ReadonlyArray<A>
  readonly nextCursor: string | null
}

/** Number of pages in an address. */
export const readPages = (text: string | undefined, most: number): number =>
  Math.min(most, Math.max(1, Math.floor(Number(text ?? "1")) || 1))

export const loadPages = async <A>(
  pages: number,
  ask: (cursor: { readonly cursor?: string }) => Promise<Page<A>>
): Promise<Page<A>> => {
  const items: Array<A> = []
  let cursor: string | null | undefined
  for (let page = 0; page < pages && cursor !== null; page++) {
    const found = await ask(cursor === undefined ? {} : { cursor })
    items.push(...found.items)
    cursor = found.nextCursor
  }
  return { items, nextCursor: cursor ?? null }
}
