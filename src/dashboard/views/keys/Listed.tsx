/** A list that the gateway searches and pages: its search, what it found, and a link to more of it. */
import type { ComponentChildren } from "preact"
import { useAnswer } from "../../api/queries.ts"
import { Answered } from "../../ui/Answered.tsx"
import { useAddress } from "./address.ts"
import { loadPages, type Page, readPages } from "./pages.ts"
import { Search } from "./Search.tsx"

interface Properties<A> {
  readonly title: string
  readonly searchLabel: string
  readonly moreLabel: string
  /** Name of the answer, without what is searched for. */
  readonly name: ReadonlyArray<string>
  readonly ask: (query: { readonly search: string; readonly cursor?: string }, signal: AbortSignal) => Promise<Page<A>>
  readonly height: number
  /** Stands in place of the list where nothing is found. */
  readonly empty: (isSearched: boolean) => ComponentChildren
  readonly children: (items: ReadonlyArray<A>) => ComponentChildren
}

const mostPages = 20

export const Listed = <A,>({ ask, children, empty, height, moreLabel, name, searchLabel, title }: Properties<A>) => {
  const { query, to } = useAddress()
  const search = query["q"] ?? ""
  const pages = readPages(query["pages"], mostPages)
  const found = useAnswer({
    key: [...name, search, pages],
    ask: (signal) => loadPages(pages, (cursor) => ask({ search, ...cursor }, signal))
  })
  return (
    <>
      <header class="bar-of-list">
        <h2>{title}</h2>
        <Search label={searchLabel} />
      </header>
      <Answered of={found} height={height}>
        {({ items, nextCursor }) =>
          items.length === 0 ? (
            <div class="empty">{empty(search !== "")}</div>
          ) : (
            <>
              {children(items)}
              {nextCursor !== null && pages < mostPages && (
                <p>
                  <a class="button" href={to({ pages: String(pages + 1) })}>
                    {moreLabel}
                  </a>
                </p>
              )}
            </>
          )
        }
      </Answered>
    </>
  )
}
