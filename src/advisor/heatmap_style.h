/*-------------------------------------------------------------------------
 *
 * heatmap_style.h
 *	  How the page of heatmap_html.c begins, and what it looks like.
 *
 * src/advisor/heatmap_style.h
 *
 *-------------------------------------------------------------------------
 */
#ifndef SK_HEATMAP_STYLE_H
#define SK_HEATMAP_STYLE_H

#define SK_HEATMAP_PAGE_START \
	"<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n" \
	"<meta charset=\"utf-8\">\n" \
	"<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n" \
	"<meta name=\"color-scheme\" content=\"light dark\">\n" \
	"<link rel=\"icon\" href=\"data:,\">\n<title>"

/* Even is blue; what is denser gets warmer, what is thinner paler. */
#define SK_HEATMAP_STYLE \
	"<style>\n" \
	":root {\n" \
	"  --page: #ffffff; --ink: #18212f; --soft: #5b6778; --line: #c3cbd6; --bar: #8fa3bd;\n" \
	"  --d0: #f3f5f8; --d1: #dfebf8; --d2: #bcd6f2; --d3: #6ea8e0;\n" \
	"  --d4: #f5c94c; --d5: #ef8e3b; --d6: #dc4a32; --d7: #a31621;\n" \
	"  --good: #1d6fb8; --fair: #b06a00; --bad: #b3261e;\n" \
	"}\n" \
	"@media (prefers-color-scheme: dark) {\n" \
	"  :root {\n" \
	"    --page: #10151d; --ink: #e6ebf2; --soft: #98a5b7; --line: #3a4657; --bar: #5d7390;\n" \
	"    --d0: #19212c; --d1: #1d3048; --d2: #24486f; --d3: #3a7ab8;\n" \
	"    --d4: #c9992b; --d5: #dd742a; --d6: #dc4436; --d7: #ff5f52;\n" \
	"    --good: #6fb2ee; --fair: #f0b95a; --bad: #ff8a80;\n" \
	"  }\n" \
	"}\n" \
	"body { margin: 0; background: var(--page); color: var(--ink); font: 15px/1.5 system-ui, sans-serif; }\n" \
	"main { max-width: 1080px; margin: 0 auto; padding: 28px 24px 40px; }\n" \
	"h1 { margin: 0; font-size: 26px; line-height: 1.25; overflow-wrap: anywhere; }\n" \
	".about { margin: 4px 0 18px; color: var(--soft); overflow-wrap: anywhere; }\n" \
	".about b { color: var(--ink); }\n" \
	".finding { margin: 0 0 18px; padding: 10px 14px; border-left: 4px solid; background: var(--d0); font-weight: 600; }\n" \
	".even { border-color: var(--good); } .uneven { border-color: var(--fair); }\n" \
	".hotspot { border-color: var(--bad); } .unknown { border-color: var(--line); }\n" \
	"figure { margin: 0; }\n" \
	"svg { display: block; width: 100%; height: auto; }\n" \
	".cells, .d0 { shape-rendering: crispEdges; }\n" \
	".d0 { fill: var(--d0); } .d1 { fill: var(--d1); } .d2 { fill: var(--d2); } .d3 { fill: var(--d3); }\n" \
	".d4 { fill: var(--d4); } .d5 { fill: var(--d5); } .d6 { fill: var(--d6); } .d7 { fill: var(--d7); }\n" \
	".cells rect:hover, .bars rect:hover { stroke: var(--ink); stroke-width: 1.5; }\n" \
	".frame { fill: none; stroke: var(--line); pointer-events: none; }\n" \
	"text { fill: var(--soft); font: 12px system-ui, sans-serif; font-variant-numeric: tabular-nums; }\n" \
	".axis { fill: var(--ink); font-size: 13px; font-weight: 600; }\n" \
	".end, .end text { text-anchor: end; }\n" \
	".end text, .bars text { dominant-baseline: central; }\n" \
	".label line { stroke: var(--line); }\n" \
	".bars rect { fill: var(--bar); }\n" \
	"line.even { stroke: var(--ink); stroke-dasharray: 3 3; opacity: 0.6; }\n" \
	".legend text { text-anchor: middle; }\n" \
	".facts { margin: 18px 0 0; color: var(--soft); max-width: 75ch; }\n" \
	"@media print { main { padding: 0; } .finding, svg { print-color-adjust: exact; } }\n" \
	"</style>\n"

#endif							/* SK_HEATMAP_STYLE_H */
