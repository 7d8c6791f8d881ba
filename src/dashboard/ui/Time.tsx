/** A time, short to read; exact, and in UTC, on hover and for readers that ask for it. */
import { ago, exact } from "./format.ts"

export const Time = ({ at }: { readonly at: string }) => (
  <time dateTime={at} title={`${exact(at)}\n${at}`}>
    {ago(at)}
  </time>
)
