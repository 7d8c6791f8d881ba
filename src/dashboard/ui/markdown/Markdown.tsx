/**
 * Draws what a model has written: a small Markdown of our own, as elements. Nothing in it becomes HTML, nothing is loaded, and a link shows the
 * host that it leads to.
 */
import type { ComponentChildren, JSX } from "preact"
import { useMemo } from "preact/hooks"
import { words } from "../../words/common.ts"
import { visible } from "../format.ts"
import { LongText } from "../editor/LongText.tsx"
import { type Block, blocksOf } from "./blocks.ts"
import { type Inline, linkOf } from "./inline.ts"

/** Letters that are read as Markdown; what comes behind them is text. */
const mostChars = 50_000

const Link = ({
  children,
  host,
  url
}: {
  readonly url: string
  readonly host: string
  readonly children: ComponentChildren
}) => (
  <a href={url} target="_blank" rel="noopener noreferrer nofollow" title={visible(url)}>
    {children}
    <span class="host"> ({visible(host)})</span>
  </a>
)

const Inlines = ({ of }: { readonly of: ReadonlyArray<Inline> }): JSX.Element => (
  <>
    {of.map((inline, index) => {
      switch (inline._tag) {
        case "Text":
          return visible(inline.text)
        case "Code":
          return <code key={index}>{visible(inline.text)}</code>
        case "Strong":
          return (
            <strong key={index}>
              <Inlines of={inline.inlines} />
            </strong>
          )
        case "Stress":
          return (
            <em key={index}>
              <Inlines of={inline.inlines} />
            </em>
          )
        case "Struck":
          return (
            <s key={index}>
              <Inlines of={inline.inlines} />
            </s>
          )
        case "Link":
          return (
            <Link key={index} url={inline.url} host={inline.host}>
              <Inlines of={inline.inlines} />
            </Link>
          )
        case "Picture":
          return (
            <Link key={index} url={inline.url} host={linkOf(inline.url)?.host ?? ""}>
              {words.picture(visible(inline.text))}
            </Link>
          )
      }
    })}
  </>
)

const Table = ({ block }: { readonly block: Extract<Block, { readonly _tag: "Table" }> }) => (
  <div class="scroller" tabIndex={0} role="region" aria-label={words.table}>
    <table class="plain-table">
      <thead>
        <tr>
          {block.head.map((cell, index) => (
            <th key={index}>
              <Inlines of={cell} />
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {block.rows.map((cells, row) => (
          <tr key={row}>
            {cells.map((cell, index) => (
              <td key={index}>
                <Inlines of={cell} />
              </td>
            ))}
          </tr>
        ))}
      </tbody>
    </table>
  </div>
)

const One = ({ block }: { readonly block: Block }): JSX.Element => {
  switch (block._tag) {
    case "Paragraph":
      return (
        <p>
          <Inlines of={block.inlines} />
        </p>
      )
    case "Heading":
      // A heading of an answer is none of the page.
      return (
        <p class={`title level-${block.level}`}>
          <Inlines of={block.inlines} />
        </p>
      )
    case "Code":
      return <LongText text={block.text} label={block.language === "" ? words.code : visible(block.language)} isCode />
    case "Quote":
      return (
        <blockquote>
          <Blocks of={block.blocks} />
        </blockquote>
      )
    case "List": {
      const items = block.items.map(({ blocks }, index) => (
        <li key={index}>
          <Blocks of={blocks} />
        </li>
      ))
      return block.isOrdered ? <ol start={block.start}>{items}</ol> : <ul>{items}</ul>
    }
    case "Table":
      return <Table block={block} />
    case "Rule":
      return <hr />
  }
}

const Blocks = ({ of }: { readonly of: ReadonlyArray<Block> }): JSX.Element => (
  <>
    {of.map((block, index) => (
      <One key={index} block={block} />
    ))}
  </>
)

export const Markdown = ({ text }: { readonly text: string }) => {
  const blocks = useMemo(() => blocksOf(text.slice(0, mostChars)), [text])
  return (
    <div class="markdown">
      <Blocks of={blocks} />
      {text.length > mostChars && <LongText text={text.slice(mostChars)} label={words.rest} />}
    </div>
  )
}
