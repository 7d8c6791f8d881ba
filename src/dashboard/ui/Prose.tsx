/** A sentence of the API's documents: what stands between backticks is code. Everything is text. */
import { visible } from "./format.ts"

export const Prose = ({ text }: { readonly text: string }) => (
  <>
    {text.split("`").map((part, index) =>
      // Every second part stood between two marks; the place is what a part is.
      index % 2 === 1 ? <code key={index}>{visible(part)}</code> : visible(part)
    )}
  </>
)
