"""The style of the report of a job, in light and dark, for narrow screens and wide ones."""

__all__ = ["STYLE"]

STYLE = """
:root { color-scheme: light dark; --page: #f4f6f8; --card: #fff; --ink: #1a1f26; --soft: #59636f; --line: #d8dee6;
  --map: #2b66d1; --combine: #123a85; --reduce: #b35c00; --bad: #bf2433; --good: #17734a; --off: #8d97a3; --on: #fff }
@media (prefers-color-scheme: dark) { :root { --page: #11151a; --card: #1a2027; --ink: #e6eaef; --soft: #9ba6b3;
  --line: #323b46; --map: #74a5ff; --combine: #d3e3ff; --reduce: #f0a858; --bad: #ff7c86; --good: #62d29c;
  --on: #11151a } }
* { box-sizing: border-box }
body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.45 system-ui, sans-serif }
main { max-width: 1120px; margin: auto; padding: 12px; display: grid; gap: 12px; grid-template-columns: minmax(0, 1fr) }
section { background: var(--card); border: 1px solid var(--line); border-radius: 8px; padding: 12px 14px }
h1, h2, p, small, summary, td.any { overflow-wrap: anywhere }
h1 { font-size: 22px; margin: 0 }
h2 { font-size: 18px; margin: 8px 0 -4px }
h3 { font-size: 15px; margin: 0 0 8px }
p { margin: 6px 0 }
small { display: block; color: var(--soft); font-size: 12.5px }
.good { color: var(--good) }
.bad { color: var(--bad) }
dl { display: grid; grid-template-columns: repeat(auto-fit, minmax(118px, 1fr)); gap: 10px 16px; margin: 12px 0 0 }
dt, th { color: var(--soft); font-size: 12.5px }
dd { margin: 0; font-size: 18px }
dd, table, svg text { font-variant-numeric: tabular-nums }
.wide { overflow-x: auto }
table { border-collapse: collapse; width: 100% }
th, td { padding: 4px 10px 4px 0; border-bottom: 1px solid var(--line); vertical-align: top; text-align: left }
th:last-child, td:last-child { padding-right: 0 }
th.n, td.n { text-align: right; white-space: nowrap }
td.any { min-width: 11ch }
@media (max-width: 480px) { table { font-size: 13px } th, td { padding-right: 6px } td.any { min-width: 8ch } }
.over td { border-bottom: 0 }
.over + tr td { padding-top: 0 }
pre, code { font: 13px/1.5 ui-monospace, monospace }
pre { white-space: pre-wrap; overflow-wrap: anywhere; margin: 6px 0 0; max-height: 420px; overflow-y: auto }
svg { display: block; width: 100%; overflow: visible }
svg text { font-size: 11px; fill: var(--soft) }
svg .on { fill: var(--on) }
line { stroke: var(--line) }
line.median { stroke: var(--ink); stroke-dasharray: 4 3 }
rect.map { fill: var(--map) }
rect.combine { fill: var(--combine) }
rect.reduce { fill: var(--reduce) }
rect.failed { fill: var(--bad) }
rect.stopped { fill: var(--off) }
.legend span { margin-right: 14px; white-space: nowrap }
.legend svg { display: inline-block; width: 12px; height: 12px; margin-right: 5px; vertical-align: -1px }
summary { cursor: pointer; font-weight: 600; list-style-position: outside; margin-left: 18px }
details + details { margin-top: 10px }
"""
