/* sched_blocks.c - blocks of a machine's cache: whose they are, in which order free ones are taken, and what of a prompt is there. */
#include <assert.h>

#include "sim/serve/sched_int.h"

static void unlink_run(struct sched *s, uint32_t i)
{
	struct run *x = &s->t->runs[i];

	s->t->runs[x->before].after = x->after;
	s->t->runs[x->after].before = x->before;
	x->blocks = 0;
}

/* Behind another. */
static void link_behind(struct sched *s, uint32_t before, uint32_t i, uint64_t blocks)
{
	const uint32_t after = s->t->runs[before].after;

	s->t->runs[i] = (struct run){ blocks, before, after };
	s->t->runs[before].after = i;
	s->t->runs[after].before = i;
}

/* At the end of the free ones. */
static void link_run(struct sched *s, uint32_t i, uint64_t blocks)
{
	link_behind(s, s->t->runs[s->ends].before, i, blocks);
}

/* Free, and nobody asks for what was in them: taken first. */
static void link_nobodys(struct sched *s, uint64_t blocks)
{
	const uint32_t nobodys = s->ends - 1;

	if (s->t->runs[nobodys].blocks)
		s->t->runs[nobodys].blocks += blocks;
	else if (blocks)
		link_behind(s, s->ends, nobodys, blocks);
}

void sched_blocks_open(struct sched *s, uint32_t k)
{
	s->page_run = s->ends + 1;
	s->pages = s->t->pages + (size_t)k * s->a->page_kinds;
	s->t->runs[s->ends] = (struct run){ 0, s->ends, s->ends };
	link_run(s, s->ends - 1, s->pager.capacity);
}

/* --- pages ---------------------------------------------------------------------------------------------------------------- */

uint64_t sched_page_blocks(const struct sched *s, uint64_t pages)
{
	return pages * (ARRIVE_PAGE / s->p->block);
}

static bool has_pages(const struct sched *s)
{
	return s->p->prefix && s->a->page_kinds;
}

static uint32_t page_of(const struct sched *s, uint32_t i, uint32_t k)
{
	return s->a->pages[s->a->v[i].page + k];
}

/* Whole ones among so many tokens of its prompt. */
static uint32_t whole_pages(const struct sched *s, uint32_t i, uint64_t tokens)
{
	const struct arrival *a = &s->a->v[i];
	const uint64_t n = (tokens < a->prompt ? tokens : a->prompt) / ARRIVE_PAGE;

	return n < a->pages ? (uint32_t)n : a->pages;
}

static void page_gone(struct sched *s, uint32_t page)
{
	s->pages[page].there = false;
	s->n_pages--;
	s->r->evicted += ARRIVE_PAGE;
}

static void use_page(struct sched *s, uint32_t page)
{
	if (s->pages[page].users++)
		return;
	unlink_run(s, s->page_run + page);
	pager_take(&s->pager, sched_page_blocks(s, 1));
}

uint32_t sched_pages_there(const struct sched *s, uint32_t i)
{
	const uint32_t most = has_pages(s) ? whole_pages(s, i, s->t->seqs[i].fill - 1) : 0;
	uint32_t n = 0;

	while (n < most && s->pages[page_of(s, i, n)].there)
		n++;
	return n;
}

/* Its own blocks are what follows the pages that it had. */
uint32_t sched_still_there(const struct sched *s, uint32_t i, uint32_t pages)
{
	const struct seq *q = &s->t->seqs[i];
	const uint64_t shared = sched_page_blocks(s, pages), most = (q->fill - 1) / s->p->block;
	const uint64_t own = s->p->prefix && pages == q->had ? s->t->runs[i].blocks : 0, has = shared + own;

	return (uint32_t)((has < most ? has : most) * s->p->block);
}

bool sched_share(struct sched *s, uint32_t i, uint32_t pages, uint64_t tokens)
{
	const uint64_t own = pager_blocks(&s->pager, tokens) - sched_page_blocks(s, pages);
	uint64_t unused = 0;

	if (!pages)
		return true;
	for (uint32_t k = 0; k < pages; k++)
		unused += !s->pages[page_of(s, i, k)].users;
	if (own + sched_page_blocks(s, unused) > s->pager.capacity - s->pager.used)
		return false;
	for (uint32_t k = 0; k < pages; k++)
		use_page(s, page_of(s, i, k));
	s->t->seqs[i].pages = pages;
	return true;
}

/* Its own blocks become the page's, or go where another has it. */
static void keep_page(struct sched *s, struct seq *q, uint32_t page)
{
	const uint64_t blocks = sched_page_blocks(s, 1);

	assert(q->blocks >= blocks);
	q->blocks -= blocks;
	q->pages++;
	if (!s->pages[page].there) {
		s->pages[page] = (struct page){ 1, true };
		s->n_pages++;
		s->r->pages_peak = s->n_pages > s->r->pages_peak ? s->n_pages : s->r->pages_peak;
		return;
	}
	use_page(s, page);
	s->pager.used -= blocks;
	link_nobodys(s, blocks);
}

void sched_keep_pages(struct sched *s, uint32_t i)
{
	struct seq *q = &s->t->seqs[i];
	const uint32_t whole = has_pages(s) ? whole_pages(s, i, q->cached) : 0;

	while (q->pages < whole)
		keep_page(s, q, page_of(s, i, q->pages));
}

/* --- blocks of its own ------------------------------------------------------------------------------------------------------ */

static void drop_page(struct sched *s, uint32_t page)
{
	if (--s->pages[page].users)
		return;
	s->pager.used -= sched_page_blocks(s, 1);
	link_run(s, s->page_run + page, sched_page_blocks(s, 1));
}

void sched_drop(struct sched *s, uint32_t i)
{
	struct seq *q = &s->t->seqs[i];

	if (s->p->prefix && q->blocks)
		link_run(s, i, q->blocks);
	pager_drop(&s->pager, &q->blocks);
	q->had = q->pages;
	while (q->pages)
		drop_page(s, page_of(s, i, --q->pages));
}

/* The oldest free ones are taken. Of a run the last ones first; what is left of a page is nobody's. */
static void take_oldest(struct sched *s, uint64_t more)
{
	while (more && s->t->runs[s->ends].after != s->ends) {
		const uint32_t first = s->t->runs[s->ends].after;
		const uint64_t has = s->t->runs[first].blocks, take = has < more ? has : more;
		const bool page = first >= s->page_run && first - s->page_run < s->a->page_kinds;

		more -= take;
		if (page)
			page_gone(s, first - s->page_run);
		if (page || take == has)
			unlink_run(s, first);
		else
			s->t->runs[first].blocks -= take;
		if (page)
			link_nobodys(s, has - take);
	}
}

/* Its own that nobody took meanwhile first. */
bool sched_grow(struct sched *s, uint32_t i, uint64_t tokens)
{
	struct seq *q = &s->t->seqs[i];
	const uint64_t pages = (uint64_t)q->pages * ARRIVE_PAGE;
	uint64_t had = q->blocks;

	if (!pager_grow(&s->pager, &q->blocks, tokens > pages ? tokens - pages : 0))
		return false;
	if (!s->p->prefix)
		return true;
	if (s->t->runs[i].blocks) {
		const uint64_t was = s->t->runs[i].blocks, want = q->blocks - had;

		had += was;
		unlink_run(s, i);
		link_nobodys(s, was > want ? was - want : 0);
	}
	take_oldest(s, q->blocks > had ? q->blocks - had : 0);
	return true;
}
