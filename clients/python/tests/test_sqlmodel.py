from datetime import datetime, timedelta, timezone

import pytest
from pg_ulid.sqlalchemy import Ulid
from sqlalchemy import ARRAY, Column, create_engine, text
from sqlalchemy.exc import DBAPIError, ProgrammingError, StatementError
from sqlalchemy.orm import registry
from sqlalchemy.pool import NullPool
from sqlmodel import Field, Relationship, Session, SQLModel, select

GENERATED = {"server_default": text("gen_ulid()")}


def models(native):
    class Base(SQLModel, registry=registry()):
        pass

    class Customer(Base, table=True):
        id: str | None = Field(default=None, primary_key=True, sa_type=Ulid(native), sa_column_kwargs=GENERATED)
        name: str
        orders: list["Order"] = Relationship(back_populates="customer")

    class Order(Base, table=True):
        __tablename__ = "orders"
        id: str | None = Field(default=None, primary_key=True, sa_type=Ulid(native), sa_column_kwargs=GENERATED)
        customer_id: str | None = Field(default=None, foreign_key="customer.id", sa_type=Ulid(native))
        note: str | None = None
        related: list[str] | None = Field(default=None, sa_column=Column(ARRAY(Ulid(native))))
        customer: Customer | None = Relationship(back_populates="orders")

    return Customer, Order


MODELS = {native: models(native) for native in (True, False)}


@pytest.fixture
def shop(native):
    return MODELS[native]


@pytest.fixture
def session(database):
    with Session(create_engine("postgresql+psycopg://", poolclass=NullPool)) as session:
        yield session


def test_orders(session, shop):
    Customer, Order = shop
    ada = Customer(name="Ada", orders=[Order(note="first"), Order(note="second")])
    session.add(ada)
    session.commit()
    ada_id, first, second = ada.id, *(order.id for order in ada.orders)
    assert isinstance(ada_id, str) and len(ada_id) == 26
    session.get(Order, first).related = [second]
    session.commit()
    session.expunge_all()
    assert session.get(Order, first.lower()).note == "first"
    assert session.get(Order, first).related == [second]
    assert session.exec(select(Order.note).where(Order.id.in_([first, second])).order_by(Order.note)).all() == ["first", "second"]
    assert {order.note for order in session.get(Customer, ada_id).orders} == {"first", "second"}
    now, hour = datetime.now(timezone.utc), timedelta(hours=1)
    assert len(session.exec(select(Order).where(Order.id.within(now - hour, now + hour))).all()) == 2
    assert session.exec(select(Order.note).where(Order.id.starts_with(first))).all() == ["first"]


def test_malformed_ids(session, shop, native, sample):
    _, Order = shop

    def insert(**values):
        try:
            session.add(Order(**values))
            session.commit()
        except StatementError as error:
            session.rollback()
            assert isinstance(error, DBAPIError) == native and "for type ulid" in str(error)

    sample.store(insert)


def test_str_without_the_type(session):
    class Base(SQLModel, registry=registry()):
        pass

    class Plain(Base, table=True):
        __tablename__ = "orders"
        id: str = Field(primary_key=True)

    with pytest.raises(ProgrammingError, match="operator does not exist: ulid = character varying"):
        session.get(Plain, "0" * 26)
