//===- Style.h - The look of the explanation's page -------------*- C++ -*-===//
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//===----------------------------------------------------------------------===//

#ifndef PRISM_LIB_COMPILER_EXPLAIN_STYLE_H
#define PRISM_LIB_COMPILER_EXPLAIN_STYLE_H

#include "llvm/ADT/StringRef.h"

namespace prism::explain {

/// Light and dark as the reader's system says; every colour of text has at
/// least 4.5 : 1 to its ground.
inline constexpr llvm::StringLiteral styleSheet = R"(
:root { color-scheme: light dark; --ground: #ffffff; --card: #f5f7fa; --text: #1b1f24; --soft: #525a65;
  --line: #c4cad2; --accent: #0a58ca; --decay: #8a5a00; --erase: #b3261e; --inject: #146c2e; --read: #0a58ca; }
@media (prefers-color-scheme: dark) { :root { --ground: #14171b; --card: #1d2228; --text: #e8eaed; --soft: #aab2bd;
  --line: #454d57; --accent: #8ab4f8; --decay: #f0b95c; --erase: #f2938c; --inject: #7ed491; --read: #8ab4f8; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 62rem; padding: 1rem; background: var(--ground); color: var(--text);
  font: 1rem/1.5 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.6rem; line-height: 1.2; margin: 0.5rem 0; }
h2 { font-size: 1.35rem; margin: 2.5rem 0 0.5rem; border-top: 2px solid var(--line); padding-top: 1rem; }
h3 { font-size: 1.1rem; margin: 1.75rem 0 0.5rem; }
h4 { font-size: 1rem; margin: 1.25rem 0 0.25rem; }
p { margin: 0.4rem 0; max-width: 46rem; }
a { color: var(--accent); }
.soft { color: var(--soft); font-size: 0.92rem; }
nav ul { list-style: none; padding: 0; display: flex; flex-wrap: wrap; gap: 0.25rem 1rem; margin: 0.5rem 0; }
.side { display: flex; flex-wrap: wrap; gap: 1rem 2rem; align-items: flex-start; }
.side > * { flex: 1 1 20rem; min-width: 0; }
.side > .scroll { flex-basis: 27rem; }
figure { margin: 0.5rem 0; }
figcaption { color: var(--soft); font-size: 0.92rem; }
.scroll { overflow-x: auto; max-width: 100%; }
table { border-collapse: collapse; font-size: 0.92rem; margin: 0.5rem 0; }
caption { text-align: left; color: var(--soft); padding-bottom: 0.25rem; }
th, td { text-align: left; vertical-align: top; padding: 0.25rem 0.75rem 0.25rem 0; border-bottom: 1px solid var(--line);
  overflow-wrap: normal; }
th { font-weight: 600; }
td.number, th.number { text-align: right; padding-left: 0.25rem; font-variant-numeric: tabular-nums; white-space: nowrap; }
.numbers { white-space: nowrap; }
code, pre { font-family: ui-monospace, monospace; font-size: 0.85rem; }
pre { margin: 0.5rem 0; padding: 0.75rem; background: var(--card); border: 1px solid var(--line); border-radius: 6px;
  overflow-x: auto; overflow-wrap: normal; line-height: 1.4; }
summary { cursor: pointer; }
article { background: var(--card); border: 1px solid var(--line); border-radius: 6px; padding: 0.25rem 1rem 0.75rem;
  margin: 0.75rem 0; }
article h4 { font-size: 1rem; margin: 0.5rem 0 0.25rem; }
dl { display: grid; grid-template-columns: max-content 1fr; gap: 0.15rem 1rem; margin: 0.25rem 0; font-size: 0.95rem; }
dt { color: var(--soft); }
dd { margin: 0; min-width: 0; }
@media (max-width: 34rem) { dl { grid-template-columns: 1fr; gap: 0; } dd { margin-bottom: 0.35rem; } }
.badge { display: inline-block; min-width: 1.6em; text-align: center; border-radius: 1em; background: var(--accent);
  color: var(--ground); font-weight: 600; margin-right: 0.5em; }
svg { display: block; width: 100%; max-width: 32rem; height: auto; }
svg text { fill: var(--text); font: 11px system-ui, sans-serif; }
svg .middle { text-anchor: middle; }
svg .left { text-anchor: end; }
svg .strong { font-weight: 600; }
svg .formula { font-family: Georgia, serif; font-style: italic; font-size: 12px; }
svg .wire { stroke: var(--soft); stroke-width: 1.3; fill: none; }
svg .tip { fill: var(--soft); }
svg .box { fill: var(--card); stroke: var(--soft); stroke-width: 1.3; }
svg .decay { stroke: var(--decay); }
svg .erase { stroke: var(--erase); }
svg .inject { stroke: var(--inject); }
svg .read { stroke: var(--read); }
svg .grid { stroke: var(--line); stroke-width: 0.6; fill: none; }
svg .roof { stroke: var(--text); stroke-width: 1.6; fill: none; }
svg .ridge { stroke: var(--soft); stroke-width: 1; stroke-dasharray: 4 3; fill: none; }
svg .point { fill: var(--accent); stroke: var(--ground); stroke-width: 1.2; }
svg.roofline text { paint-order: stroke; stroke: var(--ground); stroke-width: 3px; }
svg text.number { fill: var(--accent); font-weight: 700; font-size: 12px; }
@media print { article, pre { break-inside: avoid; } }
)";

} // namespace prism::explain

#endif // PRISM_LIB_COMPILER_EXPLAIN_STYLE_H
